"""What an extra is added by, however inftop was installed; the extra for benchmarks brings what they import."""

import json
import re
import shlex
import sys
import tomllib
from importlib.metadata import PathDistribution, packages_distributions

import pytest

from probes.extras import how_to_add
from tests.test_boundaries import ROOT, imports

BROUGHT = {"numpy": "gguf", "rich": "textual", "sqlalchemy": "sqlmodel"}
"""What comes with another package that is named."""


def distributions(extra):
    """The distributions that an extra of inftop names, and those that the extras in it name in turn."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named, waiting = set(), [*project["dependencies"], *project["optional-dependencies"][extra]]
    while waiting:
        one = waiting.pop()
        if one.startswith("inftop["):
            extras = re.findall(r"[\w-]+", one.partition("[")[2])
            waiting += [below for name in extras for below in project["optional-dependencies"][name]]
        else:
            named.add(plain(re.match(r"[\w.-]+", one)[0]))
    return named


def plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def imported(folder):
    """The top-level modules that the files of a folder of tests import, and the tests that they import in turn."""
    seen, waiting, found = set(), sorted((ROOT / folder).glob("*.py")), set()
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        for name in imports(path):
            if name.startswith("tests."):
                below = ROOT.joinpath(*name.split(".")).with_suffix(".py")
                waiting += [below] if below.exists() else []
            else:
                found.add(name.partition(".")[0])
    return found - sys.stdlib_module_names - {"probes", "tui", "tests", "__future__"}


def test_the_extra_for_benchmarks_brings_what_they_import():
    known, brought = packages_distributions(), distributions("bench")
    wanted = {BROUGHT.get(name) or plain(known.get(name, [name])[0]): name for name in imported("tests/bench")}
    assert "httpx-sse" in wanted
    assert wanted.keys() <= brought, wanted.keys() - brought


METADATA = """\
Metadata-Version: 2.4
Name: inftop
Version: 0.1.0
Requires-Dist: typer>=0.29
Requires-Dist: mcp>=2.3; extra == 'mcp'
Requires-Dist: opentelemetry-exporter-otlp-proto-http>=1.45; extra == 'otlp'
Requires-Dist: opentelemetry-sdk>=1.45; (python_version < '4') and extra == 'otlp'
Requires-Dist: psycopg[binary]>=3.2; extra == 'postgres'
Requires-Dist: mcp>=2.3; extra == 'types'
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Makes an environment with inftop as an installer leaves it there; what it says of the extra mcp, or another."""

    def installed(source=None, *, installer="pip", marks=(), prefix="venv", extra="mcp"):
        environment = tmp_path / prefix
        noted = environment / "inftop-0.1.0.dist-info"
        noted.mkdir(parents=True)
        (noted / "METADATA").write_text(METADATA)
        (noted / "INSTALLER").write_text(f"{installer}\n")
        if source is not None:
            (noted / "direct_url.json").write_text(json.dumps(source))
        for mark in marks:
            (environment / mark).write_text("")
        pip = environment / "bin" / "pip"
        pip.parent.mkdir()
        pip.touch(0o755)
        monkeypatch.setenv("PATH", str(pip.parent))
        return how_to_add(extra, prefix=environment, installed=PathDistribution(noted))

    return installed


def checkout(tmp_path, *, editable):
    folder = tmp_path / "a checkout"
    folder.mkdir(exist_ok=True)
    return {"url": folder.as_uri(), "dir_info": {"editable": True} if editable else {}}


def test_a_checkout_is_installed_again_with_the_extra(installed, tmp_path):
    place = shlex.quote(f"{tmp_path}/a checkout[mcp]")
    assert installed(checkout(tmp_path, editable=True), prefix="a") == f"pip install -e {place}"
    assert installed(checkout(tmp_path, editable=False), prefix="b") == f"pip install {place}"
    uv = f"uv pip install --python {tmp_path}/c -e {place}"
    assert installed(checkout(tmp_path, editable=True), prefix="c", installer="uv") == uv


def test_a_wheel_is_installed_again_while_it_is_there(installed, tmp_path):
    wheel = tmp_path / "inftop-0.1.0-py3-none-any.whl"
    wheel.touch()
    source = {"url": wheel.as_uri(), "archive_info": {}}
    assert installed(source, prefix="a") == f"pip install '{wheel}[mcp]'"
    wheel.unlink()
    assert installed(source, prefix="b") == "pip install 'mcp>=2.3'"


@pytest.mark.parametrize(
    "source", [None, {"url": "https://example.com/i.git", "vcs_info": {"vcs": "git", "commit_id": "a"}}, {}, [], "x"]
)
def test_what_came_from_elsewhere_gets_the_packages_alone(installed, source):
    assert installed(source) == "pip install 'mcp>=2.3'"


def test_all_packages_of_an_extra_are_named_and_no_others(installed):
    both = "'opentelemetry-exporter-otlp-proto-http>=1.45' 'opentelemetry-sdk>=1.45'"
    assert installed(extra="otlp", prefix="a") == f"pip install {both}"
    assert installed(extra="postgres", prefix="b") == "pip install 'psycopg[binary]>=3.2'"


def test_environments_that_pipx_and_uv_made_for_it_get_the_packages_beside_it(installed, tmp_path):
    source = checkout(tmp_path, editable=False)
    ways = {
        "venvs/inftop": ("pipx_metadata.json", "pipx inject inftop 'mcp>=2.3'"),
        "tools/inftop": ("uv-receipt.toml", f"uv pip install --python {tmp_path}/tools/inftop 'mcp>=2.3'"),
    }
    for prefix, (mark, said) in ways.items():
        assert installed(source, installer="uv", marks=[mark], prefix=prefix) == said
    run_once = installed(source, installer="uv", prefix="archive-v0/x")
    assert run_once == f"uvx --with 'mcp>=2.3' --from '{tmp_path}/a checkout' inftop"


def test_a_pip_that_the_shell_does_not_find_is_run_by_its_python(installed, monkeypatch, tmp_path):
    monkeypatch.setattr("probes.extras.shutil.which", lambda _: "/usr/bin/pip")
    assert installed() == f"{shlex.quote(sys.executable)} -m pip install 'mcp>=2.3'"


def test_of_this_very_installation_every_extra_can_be_added():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    said = {extra: how_to_add(extra) for extra in extras}
    assert all(
        re.search(r"\b(install|inject|uvx)\b", one) and not re.search(r" '?inftop\[", one) for one in said.values()
    )
