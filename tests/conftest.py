"""What every test starts from: no keys, no keyring and no folders of whoever runs it."""

import gc
import os

import pytest

gc.set_threshold(20_000, 20, 20)  # whole screens are made and dropped: looking for rubbish took a sixth of their time


@pytest.fixture(autouse=True)
def a_machine_of_its_own(monkeypatch, tmp_path_factory):
    for name in os.environ:
        if name.endswith("_API_KEY") or name.startswith("INFTOP_"):
            monkeypatch.delenv(name)
    home = tmp_path_factory.mktemp("home")
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(home / name.lower()))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
