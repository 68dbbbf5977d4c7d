"""Every field that later releases have: natively it is in what is rendered, or it is refused or warned of."""

import re
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from components.contract.problems import errors
from components.families import load
from components.families.llmd.kinds import RELEASES
from components.fleet.levels import LatencyTargets, Load, ServiceClass, ServiceLevels
from components.fleet.options import Options
from components.plan.environment import Environment
from components.plan.explain import explain
from components.plan.plan import plan
from tests.families.llmd.api.test_releases import ROWS

DOCUMENTS = Path(__file__).parents[1] / "data" / "fields-of-releases.yaml"
REQUIRED = "only validated: is required"
LEVELS = ServiceLevels(
    # ``smallx`` is what ``explain`` tries instead of ``small``.
    classes=(ServiceClass("Premium", 1, {"small": LatencyTargets(24, 500), "smallx": LatencyTargets(60, 2000)}),),
    loads={"chat": Load(Decimal(200), Decimal(178), Decimal(512), Decimal(60))},
)
FIELDS = sorted(
    {
        re.sub(r"\[\]|\{\}", "", row["path"])
        for row in ROWS
        if row["path"].startswith("spec.") and (row["since"] != RELEASES.contract or row["until"] != "c0f645c")
    }
    - {"spec.sloClassRef", "spec.sloClassRef.name", "spec.sloClassRef.key"}  # of the contract's release, tested there
    - {"spec.scaleTargetRef.apiVersion"}  # compared with the workload's (test_natively), and otherwise without effect
)


@cache
def became() -> dict[str, list[str]]:
    """What each field of every variant becomes, or what is said of it, by path."""
    manifests = load([DOCUMENTS])
    assert not manifests.problems
    found = plan(manifests, Environment(options=Options(levels=LEVELS)))
    assert not errors(found.problems), list(map(str, errors(found.problems)))
    rows: dict[str, list[str]] = {}
    for subject in (each for each in manifests.resources if each.kind.kind == "VariantAutoscaling"):
        for row in explain(subject, manifests.resources, found):
            said = [
                problem.reason
                for problem in found.problems
                if (problem.kind, problem.name) == ("VariantAutoscaling", subject.name)
                and f"{row.path}.".startswith(f"{problem.path}.")
            ]
            rows.setdefault(re.sub(r"\[\d+\]", "", row.path), []).extend([*row.became, *said])
    return rows


@pytest.mark.parametrize("path", FIELDS)
def test_a_field_is_rendered_refused_or_warned_of(path: str) -> None:
    found = [line for written, lines in became().items() if f"{written}.".startswith(f"{path}.") for line in lines]
    assert [line for line in found if not line.startswith(REQUIRED)], found


NUMBERS: dict[str, tuple[str, str]] = {
    "alpha": ('alpha: "20.58"', 'alpha: "22.58"'),
    "beta": ('beta: "0.41"', 'beta: "0.81"'),
    "gamma": ('gamma: "5.2"', 'gamma: "300"'),
    "delta": ('delta: "0.01"', 'delta: "0.2"'),
    "name": ("name: code}\n  modelID", "name: chat}\n  modelID"),
    "minReplicas": ("minReplicas: 2", "minReplicas: 3"),
    "maxReplicas": ("maxReplicas: 5", "maxReplicas: 6"),
}


@pytest.mark.parametrize("field", NUMBERS)
def test_another_value_makes_another_autoscaler(field: str, tmp_path: Path) -> None:
    text = DOCUMENTS.read_text(encoding="utf-8")
    assert NUMBERS[field][0] in text
    (tmp_path / "one.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "other.yaml").write_text(text.replace(*NUMBERS[field], 1), encoding="utf-8")
    assert _autoscalers(tmp_path / "one.yaml") != _autoscalers(tmp_path / "other.yaml")


def _autoscalers(file: Path) -> list[Any]:
    found = plan(load([file]), Environment(options=Options(levels=LEVELS)))
    return [scaler.hpa["spec"] for _, scaler in found.fleet.autoscalers]
