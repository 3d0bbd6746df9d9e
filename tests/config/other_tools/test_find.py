"""Configurations of other tools, where they usually lie."""

import json
import os

from probes.config.other_tools.find import find_configurations


def test_what_lies_where_it_usually_lies_is_found_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "home"
    (home / ".litellm").mkdir(parents=True)
    (home / ".litellm" / "config.yaml").write_text("model_list: [{model_name: a}]")
    (tmp_path / "litellm.yaml").write_text("model_list: [{model_name: a}, {model_name: b}]")
    (tmp_path / "litellm_config.yaml").write_text("just: text")
    (tmp_path / "litellm.yml").write_text("model_list: [&a [*a")
    llm = tmp_path / "llm"
    llm.mkdir()
    (llm / "keys.json").write_text(json.dumps({"// Note": "text", "openai": "sk-1", "groq": "gsk-2"}))
    environment = {"HOME": str(home), "LLM_USER_PATH": str(llm), "CONFIG_FILE_PATH": str(tmp_path / "litellm.yaml")}
    found = find_configurations(environment)
    assert [(one.kind, one.path.name, one.endpoints) for one in found] == [
        ("litellm", "litellm.yaml", 2),
        ("litellm", "config.yaml", 1),
        ("llm", "keys.json", 2),
    ]


def test_nothing_is_found_where_nothing_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert find_configurations({"HOME": str(tmp_path)}) == []


def test_a_pipe_that_lies_there_is_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo(tmp_path / "litellm.yaml")
    assert find_configurations({"HOME": str(tmp_path)}) == []
