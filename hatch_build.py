"""What the build adds to pyproject.toml: project URLs, the description for PyPI, and the wheel's bill of materials.

The repository's address stands once, in pyproject.toml (``tool.hatch.metadata.hooks.custom.repository``). While it is
empty nothing claims one: there are no project URLs, and the description has neither links nor pictures that would be
dead on PyPI.
"""

import json
import re
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface
from packaging.requirements import Requirement

_PICTURE: Final = re.compile(r"!\[([^\]]*)\]\((?!https?://)([^)\s]+)\)\n*")
_LINK: Final = re.compile(r"\[([^\]]*)\]\((?!https?://|#)([^)\s]+)\)")

FOR_USERS: Final = ("bedrock", "otlp", "parquet", "postgres")
"""The extras that are not for working on inftop."""


def description(readme: str, repository: str, version: str) -> str:
    """The README with links and pictures that work from anywhere, at the version's tag; without a repository none."""
    if not repository:
        return _LINK.sub(r"\1", _PICTURE.sub("", readme))
    tag = f"v{version}"
    shown = _PICTURE.sub(lambda one: one[0].replace(f"({one[2]})", f"({repository}/raw/{tag}/{one[2]})"), readme)
    return _LINK.sub(lambda one: f"[{one[1]}]({repository}/blob/{tag}/{one[2]})", shown)


def urls(repository: str, version: str) -> dict[str, str]:
    """The links beside the description on PyPI, by their labels there."""
    if not repository:
        return {}
    at_tag = f"{repository}/blob/v{version}"
    return {
        "Source": repository,
        "Documentation": f"{at_tag}/docs/README.md",
        "Changelog": f"{at_tag}/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }


def bill_of_materials(version: str, required: Iterable[Requirement], optional: Iterable[Requirement]) -> dict[str, Any]:
    """What the wheel holds, inftop alone, and what it expects beside it, as CycloneDX 1.7.

    Versions are ranges, for it is the installer that chooses; ``cyclonedx-py environment`` tells what it chose.
    """
    root = f"pkg:pypi/inftop@{version}"
    wanted = {str(one): component(one, scope="required") for one in required}
    wanted |= {str(one): component(one, scope="optional") for one in optional if str(one) not in wanted}
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.7.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.7",
        "version": 1,
        "metadata": {
            "lifecycles": [{"phase": "build"}],
            "component": {
                "type": "application",
                "bom-ref": root,
                "name": "inftop",
                "version": version,
                "purl": root,
                "licenses": [{"license": {"id": "MIT"}}],
            },
        },
        "components": list(wanted.values()),
        "dependencies": [{"ref": root, "dependsOn": [one["bom-ref"] for one in wanted.values()]}],
    }


def component(wanted: Requirement, *, scope: str) -> dict[str, Any]:
    """A package that is expected to be there, with the range of versions that will do (``vers:pypi/…``)."""
    name = re.sub(r"[-_.]+", "-", wanted.name).lower()
    bounds = sorted(wanted.specifier, key=lambda one: (one.operator != ">=", str(one)))
    found = {"type": "library", "bom-ref": str(wanted), "name": name, "purl": f"pkg:pypi/{name}", "scope": scope}
    return {
        **found,
        "isExternal": True,
        "versionRange": "vers:pypi/" + ("|".join(f"{one.operator}{one.version}" for one in bounds) or "*"),
    }


class Metadata(MetadataHookInterface):
    """The README as description and the URLs, both as the repository's address allows."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in what pyproject.toml calls dynamic."""
        readme = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        repository = str(self.config["repository"]).rstrip("/")
        version = str(metadata["version"])
        metadata["readme"] = {"content-type": "text/markdown", "text": description(readme, repository, version)}
        metadata["urls"] = urls(repository, version)


class BillOfMaterials(BuildHookInterface):
    """`inftop.cdx.json` in the wheel's ``.dist-info/sboms`` (PEP 770)."""

    _folder: tempfile.TemporaryDirectory[str]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002  # "standard" or "editable"
        """Write the file and have the wheel take it."""
        core = self.metadata.core
        extras: Mapping[str, Mapping[str, Requirement]] = core.optional_dependencies_complex
        optional = [one for name in FOR_USERS for one in extras[name].values()]
        bill = bill_of_materials(self.metadata.version, core.dependencies_complex.values(), optional)
        self._folder = tempfile.TemporaryDirectory()
        path = Path(self._folder.name) / "inftop.cdx.json"
        path.write_text(json.dumps(bill, indent=2) + "\n", encoding="utf-8")
        build_data["sbom_files"].append(str(path))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Take the file away."""
        self._folder.cleanup()
