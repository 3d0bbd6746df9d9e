"""How the packages of an extra are added to inftop as it is installed here: a command for a person to run.

It never asks a package index for inftop itself: until there is a release, anybody could have taken the name there.
"""

import re
import shutil
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from shlex import quote
from typing import Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

import msgspec

ROOT: Final = Path(__file__).parent.parent
"""The checkout, where inftop runs out of one."""


class _Folder(msgspec.Struct):
    editable: bool = False


class _DirectUrl(msgspec.Struct):
    """What an installer notes of a package that came from no index (``direct_url.json``).

    https://packaging.python.org/en/latest/specifications/direct-url-data-structure/
    """

    url: str
    dir_info: _Folder | None = None


def how_to_add(extra: str, *, prefix: Path | None = None, installed: Distribution | None = None) -> str:
    """The command that adds what an extra of inftop brings, such as ``pip install '/home/ana/checkout[mcp]'``.

    Environments that pipx and uv made for inftop get the extra's packages beside it. In others it is installed again
    with the extra, from the checkout or wheel that it came from; where that is gone they get the packages, too.
    ``prefix`` is the environment and ``installed`` what is known of inftop there, by default those of this process.
    """
    prefix = prefix or Path(sys.prefix)
    found = installed or _installed()
    packages = [quote(one) for one in _packages(found, extra)]
    path, is_editable = _source(found)
    if "archive-v0" in prefix.parts:  # of uv's cache: uvx runs it, and would find what is added there again
        return f"uvx {' '.join(f'--with {one}' for one in packages)} --from {quote(str(path or '…'))} inftop"
    if (prefix / "pipx_metadata.json").is_file() and prefix.parent.name == "venvs":
        return f"pipx inject {quote(prefix.name)} {' '.join(packages)}"
    is_tool = (prefix / "uv-receipt.toml").is_file()
    by_uv = is_tool or (found is not None and (found.read_text("INSTALLER") or "").strip() == "uv")
    pip = f"uv pip install --python {quote(str(prefix))}" if by_uv else f"{_pip(prefix)} install"
    if path is None or is_tool:
        return f"{pip} {' '.join(packages)}"
    return f"{pip} {'-e ' if is_editable else ''}{quote(f'{path}[{extra}]')}"


def _installed() -> Distribution | None:
    """What an installer noted of inftop; None where it runs out of a checkout that was never installed."""
    try:
        return distribution("inftop")
    except PackageNotFoundError:
        return None


def _packages(found: Distribution | None, extra: str) -> list[str]:
    """The packages that an extra brings, with the versions that are wanted."""
    needed = re.compile(rf"([^;]+?)\s*;.*\bextra\s*==\s*['\"]{re.escape(extra)}['\"].*")
    return [match[1] for one in (found and found.requires) or () if (match := needed.fullmatch(one))]


def _source(found: Distribution | None) -> tuple[Path | None, bool]:
    """The checkout or wheel on this machine that inftop was installed from, if it is there; whether it is editable."""
    if found is None:
        return (ROOT if (ROOT / "pyproject.toml").is_file() else None), True
    noted = found.read_text("direct_url.json")
    if not noted:
        return None, False
    try:
        source = msgspec.json.decode(noted, type=_DirectUrl)
    except msgspec.DecodeError:
        return None, False
    place = urlsplit(source.url)
    path = Path(url2pathname(place.path))
    if place.scheme != "file" or not path.exists():
        return None, False
    return path, source.dir_info is not None and source.dir_info.editable


def _pip(prefix: Path) -> str:
    """The pip of an environment: by its name alone where a shell finds that one, else through its Python."""
    found = shutil.which("pip")
    return "pip" if found and Path(found).is_relative_to(prefix) else f"{quote(sys.executable)} -m pip"
