"""The table at the end of ``up`` shows what others wrote as text."""

import pytest

from toolkit.screen import Screen
from workbench.deploying.tables import StackReport, cost_details, stack_lines


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[bold]m[/bold]", "[bold]m[/bold]"),
        ("m[/m]", "m[/m]"),
        ("a\nb\x1b[31m\u202e", "a\\x0ab\\x1b[31m\\u202e"),
        ("[secret]", "[secret]"),
    ],
)
def test_names_of_models(text: str, shown: str) -> None:
    outputs = {
        "models": {text: {"model": text, "workload": text, "workloadKind": "Deployment"}},
        "endpoints": {text: {"url": text}},
        "nodes": {text: {"instanceType": text, "nodes": 1}},
    }
    printed = "\n".join(stack_lines(StackReport("local", outputs), Screen(240), details=True))
    # In the tables of models, of workloads (with name and workload), of endpoints and of nodes.
    assert printed.count(shown) == 7
    assert "\x1b" not in printed
    assert "\u202e" not in printed


def test_names_of_what_has_no_price() -> None:
    month = {"now": 1.0, "min": 1.0, "max": 1.0}
    cost = {"models": {"m": {}}, "usdPerMonth": month, "region": "r", "date": "d", "unpriced": ["NAT\x1b[31m", "b"]}
    assert "Without a price: NAT\\x1b[31m, b." in cost_details(cost)
