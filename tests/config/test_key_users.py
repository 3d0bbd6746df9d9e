"""Who uses which key: endpoints in the order of the file, then the providers; what a key is tested with."""

from pathlib import Path

from probes.config.key_users import key_uses
from probes.config.load import load
from probes.config.presets import presets

TEXT = """
[[endpoint]]
name = "fast"
provider = "groq"
model = "m"

[[endpoint]]
name = "own"
provider = "groq"
base_url = "http://localhost:9/v1"
model = "m"
headers = { X-Team = "$TEAM_KEY" }

[[endpoint]]
name = "printed"
provider = "openai"
model = "m"
key_command = ["./bin/print-key", "--now"]

[[endpoint]]
name = "cloud"
provider = "bedrock"
model = "m"

[[endpoint]]
name = "mine"
provider = "deepseek"
key = "MINE"
model = "m"

[[endpoint]]
name = "yours"
provider = "deepseek"
key = "YOURS"
model = "m"

[[endpoint]]
name = "other"
dialect = "openai_chat"
base_url = "http://localhost:8/v1"
key = "OWN_KEY"
model = "m"
"""


def uses(folder: Path):
    (folder / "config.toml").write_text(TEXT)
    return {one.name: one for one in key_uses(load(folder / "config.toml").endpoints, presets().values())}


def test_every_key_has_its_users_those_of_endpoints_first(tmp_path):
    found = uses(tmp_path)
    assert found["GROQ_API_KEY"].endpoints == ("fast", "own")
    assert found["GROQ_API_KEY"].providers == ("groq",)
    assert found["TEAM_KEY"].endpoints == ("own",)
    assert found["print-key"].kind == "command"
    assert [one.name for one in found.values() if one.endpoints] == list(found)[
        : sum(bool(one.endpoints) for one in found.values())
    ]
    assert "ANTHROPIC_API_KEY" in found
    assert found["ANTHROPIC_API_KEY"].endpoints == ()


def test_what_requests_carry_as_their_key_can_be_tested(tmp_path):
    found = uses(tmp_path)
    tested = {"GROQ_API_KEY", "OWN_KEY", "MINE", "YOURS", "ANTHROPIC_API_KEY"}
    assert {name for name in (*tested, "TEAM_KEY", "print-key", "AWS") if found[name].is_tested} == tested
