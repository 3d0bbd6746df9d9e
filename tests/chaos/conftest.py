"""``pytest tests/chaos --all``: every fault at full length; without it the short choice that the whole suite runs."""

import pytest


def pytest_addoption(parser):
    parser.addoption("--all", action="store_true", help="chaos: all faults, at their full length (up to 30 minutes)")


def pytest_configure(config):
    config.addinivalue_line("markers", "long: a fault that only `pytest tests/chaos --all` makes")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--all", default=False):
        return
    skip = pytest.mark.skip(reason="long: pytest tests/chaos --all")
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(skip)


@pytest.fixture(scope="session")
def everything(request) -> bool:
    """Whether the full length was asked for."""
    return bool(request.config.getoption("--all", default=False))
