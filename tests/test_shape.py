"""Every file opens by saying what it holds."""

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_every_file_opens_by_saying_what_it_holds():
    files = [path for package in ("probes", "tui") for path in (ROOT / package).rglob("*.py")]
    assert len(files) > 50
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in files}
    silent = [name for name, text in texts.items() if text[:3] != '"""' or not ast.get_docstring(ast.parse(text))]
    assert silent == []
