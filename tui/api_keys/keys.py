"""The keys (of the keyboard) of the page of API keys, and which of them work when."""

from dataclasses import dataclass, replace
from typing import Final

from tui.keys import verbs
from tui.keys.keymap import Key, KeyTable, disabled_if

API_KEYS_KEYS: Final = KeyTable("API keys", (
    Key("api_keys.others", "enter", "Enter", "others", "Look", "others", "",
        "On the last row: show the keys of all providers that inftop knows, or only those of the endpoints."),
    Key("api_keys.set", "enter", "Enter", "set", "Do", "set", "Set the key",
        "Type or paste the marked key: nothing of it is shown, and it goes into the system's keyring. It is used at "
        "once."),
    Key("api_keys.test", "space", "space", "test", "Do", "test", "Test the key",
        "Ask the provider for its list of models with the marked key, which costs no tokens."),
    Key("remove", "delete,backspace", "Del", "delete", "Do", "delete", "Delete the key from the keyring",
        "Delete the marked key from the system's keyring, after a question; one of the environment stays."),
    replace(verbs.UP, help="The key above."),
    replace(verbs.DOWN, label="choose", help="The key below."),
    verbs.PAGE_UP,
    verbs.PAGE_DOWN,
    Key("first", "home", "Home", "move(-1000)", "Move", "", "",
        "The first key."),
    Key("last", "end", "End", "move(1000)", "Move", "", "",
        "The last row."),
    replace(verbs.BACK, keys="escape,q,K", help="Back to where the keys were opened."),
    verbs.OPTIONS,
    verbs.HELP,
    verbs.PALETTE,
), footer=(
    "back", "api_keys.set", "api_keys.others", "api_keys.test", "remove", "help", "down", "palette",
))  # fmt: skip


@dataclass(frozen=True, slots=True)
class ApiKeysKeyState:
    """What decides which keys work: what the cursor is on.

    ``is_key``: on a key, else on the row that folds those of other providers. ``not_ours`` says why the key is none
    that is set here ("" for one that is); ``no_keyring`` why there is no keyring; ``absent`` why there is nothing to
    test, ``unkept`` why there is nothing to delete; ``busy`` what is under way with it.
    """

    is_key: bool = True
    not_ours: str = ""
    no_keyring: str = ""
    absent: str = ""
    unkept: str = ""
    busy: str = ""


def disabled_keys(now: ApiKeysKeyState) -> dict[str, str]:
    """The ids of the keys that do nothing now, each with the reason a person is told; "" where none is needed."""
    return {
        **disabled_if(bool(now.absent), ("api_keys.test",), now.absent),
        **disabled_if(bool(now.unkept), ("remove",), now.unkept),
        **disabled_if(bool(now.no_keyring), ("api_keys.set", "remove"), now.no_keyring),
        **disabled_if(bool(now.busy), ("api_keys.set", "api_keys.test", "remove"), now.busy),
        **disabled_if(bool(now.not_ours), ("api_keys.set", "remove"), now.not_ours),
        **disabled_if(not now.is_key, ("api_keys.set", "api_keys.test", "remove")),
        **disabled_if(now.is_key, ("api_keys.others",)),
    }
