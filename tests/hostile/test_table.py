"""The table at the end of ``up`` shows what others wrote as text."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from workbench.deploying.tables import show


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


def _printed(cost: dict[str, object], folder: Path) -> str:
    stream = io.StringIO()
    models = {"m": {"model": "m", "workload": "m", "workloadKind": "Deployment"}}
    show({"models": models, "cost": cost}, str(folder / "none"), Console(file=stream, highlight=False, width=240))
    return stream.getvalue()


_MONTH = {"now": 1234.5, "min": 1000.0, "max": 1234567.891}


def test_a_line_says_what_it_costs(tmp_path: Path) -> None:
    cost = {"models": {"m": {}}, "usdPerMonth": _MONTH, "region": "eu-west-1", "date": "2026-07-20", "unpriced": []}
    assert (
        "Cost: 1,234 USD a month now, 1,000 at least and 1,234,568 at most (eu-west-1, prices of 2026-07-20)."
        in _printed(cost, tmp_path)
    )


def test_a_line_names_what_has_no_price(tmp_path: Path) -> None:
    cost = {"models": {"m": {}}, "usdPerMonth": _MONTH, "region": "r", "date": "d", "unpriced": ["NAT\x1b[31m", "b"]}
    assert "prices of d; without a price: NAT\\x1b[31m, b)." in _printed(cost, tmp_path)


def test_a_line_says_what_models_would_cost_where_nobody_pays(tmp_path: Path) -> None:
    cost = {"models": {"m": {}}, "modelsUsdPerMonth": _MONTH, "usdPerMonth": {}, "region": "", "date": "2026-07-20"}
    printed = _printed(cost, tmp_path)
    assert "On AWS, on demand in us-east-1 (prices of 2026-07-20), the models would cost 1,234 USD" in printed


def test_there_is_no_line_without_costs(tmp_path: Path) -> None:
    assert "USD" not in _printed({}, tmp_path)
