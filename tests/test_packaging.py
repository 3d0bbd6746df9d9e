"""What is built: the wheel and the sdist hold what they must and nothing else, and their metadata tell the truth."""

import email
import importlib.util
import json
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.policy import default
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
DATA = {
    "probes/config.toml",
    "probes/config/presets.toml",
    "probes/definitions.toml",
    "tui/app.tcss",
    "tui/browser/page.html",
}
TYPED = {"probes/py.typed", "tui/py.typed"}
README = """# inftop

![the screen](docs/inftop.svg)

[The docs](docs/README.md), [here](#here), [Textual](https://textual.textualize.io).
"""
AT = "https://example.com/somebody/inftop"


@pytest.fixture(scope="module")
def hook():
    """The build's own additions, as a module."""
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The sdist, the wheel made from it, and a wheel made from the checkout, without a network."""
    folder = tmp_path_factory.mktemp("built")
    for words in (["-o", f"{folder}/released"], ["-w", "-o", f"{folder}/direct"]):
        command = [sys.executable, "-m", "build", "--no-isolation", *words, str(ROOT)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder


def released(built, ending):
    [path] = (built / "released").glob(f"*{ending}")
    return path


def contents(wheel):
    """The bytes of a wheel's files, by their names without the version."""
    with zipfile.ZipFile(wheel) as archive:
        return {
            re.sub(r"^inftop-[^/]+?\.dist-info", "dist-info", name): archive.read(name) for name in archive.namelist()
        }


def ours(*folders):
    """The files of these folders, but for what Python has compiled."""
    found = (path for folder in folders for path in (ROOT / folder).rglob("*.*"))
    return {str(path.relative_to(ROOT)) for path in found if path.is_file() and path.parent.name != "__pycache__"}


@pytest.mark.slow
def test_a_wheel_holds_the_two_packages_their_data_and_nothing_else(built):
    names = contents(released(built, ".whl")).keys()
    inside = {name for name in names if name.startswith(("probes/", "tui/"))}
    assert inside == ours("probes", "tui") | {"probes/config.toml"}
    assert inside >= DATA | TYPED
    assert sum(name.startswith("probes/store/migrations/versions/0") for name in inside) > 10
    assert {name.partition("/")[0] for name in names} - {"inftop-0.1.0.data"} == {"probes", "tui", "dist-info"}


@pytest.mark.slow
def test_the_wheel_of_an_sdist_is_the_wheel_of_the_checkout(built):
    [direct] = (built / "direct").glob("*.whl")
    assert contents(released(built, ".whl")) == contents(direct)


@pytest.mark.slow
def test_an_sdist_holds_what_tests_and_documents_need(built):
    with tarfile.open(released(built, ".tar.gz")) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "LICENSE",
        "config.toml",
        "noxfile.py",
        "hatch_build.py",
        ".dockerignore",
    }
    assert wanted | ours("probes", "tui", "tests", "docs") <= names
    assert not {name for name in names if "__pycache__" in name or name.endswith((".pyc", ".db", ".env"))}


@pytest.mark.slow
def test_metadata_claim_nothing_that_is_not_so(built):
    files = contents(released(built, ".whl"))
    told = email.message_from_bytes(files["dist-info/METADATA"], policy=default)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    repository = project["tool"]["hatch"]["metadata"]["hooks"]["custom"]["repository"]
    assert told["Description-Content-Type"] == "text/markdown"
    assert bool(told.get_all("Project-URL")) == bool(repository)
    links = re.findall(r"\]\(([^)]*)\)", told.get_payload())
    assert all(one.startswith(("https://", "#")) for one in links)
    assert set(told.get_all("Provides-Extra")) == project["project"]["optional-dependencies"].keys()


@pytest.mark.slow
def test_the_wheel_has_a_bill_of_materials(built):
    files = contents(released(built, ".whl"))
    bill = json.loads(files["dist-info/sboms/inftop.cdx.json"])
    told = email.message_from_bytes(files["dist-info/METADATA"], policy=default)
    assert (bill["bomFormat"], bill["metadata"]["component"]["version"]) == ("CycloneDX", told["Version"])
    required = {one["name"] for one in bill["components"] if one["scope"] == "required"}
    asked = [one for one in told.get_all("Requires-Dist") if "extra ==" not in one]
    assert required == {re.match(r"[\w.-]+", one)[0] for one in asked}
    assert {one["name"] for one in bill["components"]} >= {"botocore", "psycopg", "pyarrow", "opentelemetry-sdk"}


def test_without_a_repository_a_description_has_no_dead_links(hook):
    assert hook.description(README, "", "1.0") == (
        "# inftop\n\nThe docs, [here](#here), [Textual](https://textual.textualize.io).\n"
    )
    assert hook.urls("", "1.0") == {}


def test_with_a_repository_links_and_pictures_are_those_of_the_tag(hook):
    text = hook.description(README, AT, "1.0")
    assert f"![the screen]({AT}/raw/v1.0/docs/inftop.svg)" in text
    assert (
        f"[The docs]({AT}/blob/v1.0/docs/README.md), [here](#here), [Textual](https://textual.textualize.io)." in text
    )
    assert hook.urls(AT, "1.0")["Changelog"] == f"{AT}/blob/v1.0/CHANGELOG.md"


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda page: page.name
)
def test_until_a_release_no_page_has_a_reader_install_the_bare_name(page):
    bare = re.compile(r"^(?:\$ )?(?:uvx|pipx? install|pipx run|uv tool install)(?: -\S+)* '?inftop\b", re.MULTILINE)
    assert bool(bare.search(page.read_text(encoding="utf-8"))) == (page.name == "releasing.md")


def test_a_component_is_a_range_of_versions(hook):
    wanted = hook.component(hook.Requirement("Some_Thing<4,!=3.2,>=3"), scope="required")
    assert (wanted["purl"], wanted["versionRange"]) == ("pkg:pypi/some-thing", "vers:pypi/>=3|!=3.2|<4")
    assert hook.component(hook.Requirement("any"), scope="optional")["versionRange"] == "vers:pypi/*"


def test_the_workflow_of_a_release_is_pinned_and_only_its_last_job_has_rights():
    text = (ROOT / "docs/release-example.yml").read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    assert workflow[True] == {"push": {"tags": ["v*"]}}  # "on" is a truth in YAML
    assert all(re.fullmatch(r"\S+@[0-9a-f]{40}  # v[\d.]+", one) for one in re.findall(r"uses: (.*)", text))
    granted = {name: job.get("permissions") for name, job in workflow["jobs"].items()}
    assert workflow["permissions"] == {}
    assert granted == {"build": {"contents": "read"}, "installs": {}, "publish": {"id-token": "write"}}
    assert workflow["jobs"]["publish"]["environment"]["name"] == "pypi"
    sessions = set(re.findall(r"nox -s ([\w ]+)", text))
    assert sessions <= set(re.findall(r"^def (\w+)\(session", (ROOT / "noxfile.py").read_text(), re.MULTILINE))
