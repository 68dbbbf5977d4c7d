"""The table at the end of ``up`` shows what others wrote as text."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from workbench.table import show


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[bold]m[/bold]", "[bold]m[/bold]"),
        ("m[/m]", "m[/m]"),
        ("a\nb\x1b[31m\u202e", "a\\x0ab\\x1b[31m\\u202e"),
        ("[secret]", "[secret]"),
    ],
)
def test_names_of_models(text: str, shown: str, tmp_path: Path) -> None:
    stream = io.StringIO()
    outputs = {
        "models": {text: {"model": text, "workload": text, "workloadKind": "Deployment"}},
        "endpoints": {text: {"url": text}},
        "nodes": {text: {"instanceType": text, "nodes": 1}},
    }
    show(outputs, str(tmp_path / "none"), Console(file=stream, highlight=False, width=240))
    printed = stream.getvalue()
    assert printed.count(shown) == 6
    assert "\x1b" not in printed
    assert "\u202e" not in printed
