"""Every field that later releases of LLMKube have: it is in what was rendered, or it is refused or warned about."""

import csv
import re
from functools import cache
from pathlib import Path

import pytest

from components.contract.problems import Severity, errors
from components.families import load, parse
from components.plan.explain import ExplainedField, explain
from components.plan.plan import plan
from tests.layers.modules import ROOT

DATA = Path(__file__).with_name("data")
INDEX = re.compile(r"\[\d*\]")
API = "inference.llmkube.dev/v1alpha1"
MODEL = f"apiVersion: {API}\nkind: Model\nmetadata: {{name: m}}\nspec: {{source: 'https://example.com/m.gguf'}}"

REFUSED = {
    "spec.rolloutPolicy.waitForIdle": "{waitForIdle: true}",
    "spec.maxPodLifetimeSeconds": "3600",
    "spec.endpoint.gateway.enabled": "{gateway: {enabled: true, gatewayRef: {name: g}}}",
    "spec.slo": "{objective: '99', indicator: latency, latencyThreshold: '2', name: target, window: 7d}",
}  # fmt: skip
"""Fields that native rendering refuses, with a value of the field below ``spec``; fields below one share its fate."""


def later() -> list[tuple[str, str]]:
    """Return kind and path of every field of the newest release that the contract's lacks."""
    with (DATA / "releases.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    known = {(row["kind"], row["path"]) for row in rows if row["since"] == "v0.8.7"}
    found = {
        (row["kind"], row["path"])
        for row in rows
        if not row["until"] and row["kind"] in ("InferenceService", "Model")
    }
    return sorted((kind, path.replace("[]", "").replace("{}", "")) for kind, path in found - known)


FIELDS = sorted(set(later()))


def test_the_walk_covers_the_releases() -> None:
    """The table has 107 such paths; lists and maps are one field with their items."""
    assert len(FIELDS) >= 85


@cache
def explained() -> dict[str, list[ExplainedField]]:
    manifests = load([ROOT / "components/families/llmkube/samples/later_fields.yaml"])
    assert not manifests.problems
    planned = plan(manifests)
    assert not errors(planned.problems), list(map(str, errors(planned.problems)))
    found: dict[str, list[ExplainedField]] = {}
    for subject in manifests.resources:
        for row in explain(subject, manifests.resources, planned):
            found.setdefault(f"{subject.resource.kind}.{INDEX.sub('', row.path)}", []).append(row)
    return found


@pytest.mark.parametrize(("kind", "path"), FIELDS)
def test_a_field_is_rendered_refused_or_warned_about(kind: str, path: str) -> None:
    if any(path == refused or path.startswith(f"{refused}.") for refused in REFUSED):
        return  # below
    name = f"{kind}.{path}"
    rows = [
        row for place, found in explained().items() if place == name or place.startswith(f"{name}.") for row in found
    ]
    assert rows, "no document sets it"
    became = [line for row in rows for line in row.became]
    assert any(not line.startswith("only validated: is required") for line in became), rows


@pytest.mark.parametrize("path", REFUSED)
def test_a_field_that_needs_the_operator_is_refused_with_a_remedy(path: str) -> None:
    first = path.split(".")[1]
    service = f"kind: InferenceService\nmetadata: {{name: s}}\nspec: {{modelRef: m, {first}: {REFUSED[path]}}}"
    manifests = parse(f"{MODEL}\n---\napiVersion: {API}\n{service}")
    found = [p for p in plan(manifests).problems if p.severity == Severity.ERROR]
    assert [(p.path, p.rule) for p in found] == [(path, "native-unsupported")]
    assert "realization 'operator'" in found[0].reason
