"""The table [screen]: what it fixes and where, and what is wrong with it."""

import pytest
from textual.theme import BUILTIN_THEMES

from probes.config.load import load
from probes.config.screen import THEMES, checked
from probes.config_error import ConfigError
from tui.state.view_options import SORTS
from tui.style.themes import THEMES as OWN_THEMES
from tui.time.period import LENGTHS

ENDPOINT = '[[endpoint]]\nname = "a"\nprovider = "llamacpp"\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"\n'


@pytest.fixture
def fixed(tmp_path):
    def read(text):
        path = tmp_path / "config.toml"
        path.write_text(text)
        return {option: (one.value, one.at.removeprefix(str(path))) for option, one in load(path).screen.items()}

    return read


def test_an_option_is_fixed_by_file_and_line(fixed):
    text = f'{ENDPOINT}\n[screen]\n# as on the wall\ntheme = "nord"\n  window="6 h"\nsort = "tokens/s"\n'
    assert fixed(text) == {"theme": ("nord", ":9"), "window": ("6h", ":10"), "sort": ("tokens/s", ":11")}


def test_the_line_is_found_only_in_its_own_table(fixed):
    assert fixed(f'{ENDPOINT}[screen]\nview = "panels"\n') == {"view": ("panels", ":7")}
    assert fixed(f'screen.view = "panels"\n{ENDPOINT}') == {"view": ("panels", ":1")}


def test_a_line_written_in_a_way_of_its_own_is_not_guessed(fixed):
    assert fixed(f'screen = {{ view = "panels" }}\n{ENDPOINT}') == {"view": ("panels", "")}


def test_nothing_is_fixed_by_a_file_without_the_table(fixed):
    assert fixed(ENDPOINT) == {}


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ('theme = "inftop-lihgt"', "screen.theme: 'inftop-lihgt' is not known; did you mean 'inftop-light'?"),
        ('window = "2h"', "screen.window: '2h' is not known; did you mean '24h'?"),
        ("window = 6", "screen.window: must be text, not a whole number"),
        ('sort = "tokens"', "screen.sort: 'tokens' is not known; did you mean 'tokens/s'?"),
        ('veiw = "panels"', "unknown key 'screen.veiw'; did you mean 'screen.view'?"),
    ],
)
def test_a_wrong_option_is_named_with_the_nearest_right_one(tmp_path, setting, said):
    path = tmp_path / "config.toml"
    path.write_text(f"{ENDPOINT}[screen]\n{setting}\n")
    with pytest.raises(ConfigError) as raised:
        load(path)
    assert said in str(raised.value)


def test_every_theme_can_be_shown():
    """The engine knows no Textual, so the names are written down; a newer Textual may have more."""
    assert set(THEMES) <= {*BUILTIN_THEMES, *(one.name for one in OWN_THEMES)}


def test_windows_and_orders_are_those_of_the_keys():
    assert [checked("window", name) for name in LENGTHS] == [name.replace(" ", "") for name in LENGTHS]
    assert [checked("sort", name) for name in SORTS] == list(SORTS)
