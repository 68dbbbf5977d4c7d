"""Every field of LLMKube's contract: it is in what was rendered, or it is refused or warned about."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from components.contract.problems import errors
from components.families import load
from components.plan.explain import ExplainedField, explain
from components.plan.plan import plan
from tests.families.llmkube.api.documents import ROWS
from tests.layers.modules import ROOT

DOCUMENTS = ROOT / "components/families/llmkube/samples/fields.yaml"
INDEX = re.compile(r"\[\d+\]")
FOR_PEOPLE = {"Model.spec.quantization": "says how a file was made; the file says it too"}
"""Fields that nothing in a cluster depends on, upstream neither (LLMKube spec 1.3)."""
HELD_AGAINST = {"Model.spec.hardware.gpu.enabled": "count decides; false with GPUs, or true without, is warned of"}
WARNED = {"Model.spec.hardware.gpu.enabled": ("enabled: true", "enabled: false")}


def label(row: dict[str, str]) -> str:
    return f"{row['type']}.{row['field']}"


FIELDS = [r for r in ROWS if ".spec" in r["type"]]


def test_the_walk_covers_the_specification() -> None:
    """Of the 137 rows those left out are apiVersion, kind, metadata, spec, status and what is below status."""
    left = {label(row) for row in ROWS} - {label(row) for row in FIELDS}
    assert all(name.count(".") == 1 or ".status" in name for name in left), left
    assert len(FIELDS) >= 100


@cache
def explained() -> dict[str, list[ExplainedField]]:
    """The rows of every document, by kind and path without indices."""
    manifests = load([DOCUMENTS])
    assert not manifests.problems
    planned = plan(manifests)
    assert not errors(planned.problems)
    found: dict[str, list[ExplainedField]] = {}
    for subject in manifests.resources:
        for row in explain(subject, manifests.resources, planned):
            found.setdefault(f"{subject.resource.kind}.{INDEX.sub('', row.path)}", []).append(row)
    return found


def of(name: str) -> Iterator[ExplainedField]:
    for place, rows in explained().items():
        if place == name or place.startswith((f"{name}.", f"{name}[")):
            yield from rows


@pytest.mark.parametrize("row", FIELDS, ids=label)
def test_a_field_is_rendered_refused_or_warned_about(row: dict[str, str]) -> None:
    name = label(row)
    found = list(of(name))
    assert found, "no document sets it"
    became = [line for each in found for line in each.became]
    if name in FOR_PEOPLE | HELD_AGAINST:
        assert became == []
    else:
        assert any(not line.startswith("only validated: is required") for line in became), found


@pytest.mark.parametrize(("name", "change"), WARNED.items())
def test_what_is_only_held_against_others_is_warned_of(name: str, change: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text(DOCUMENTS.read_text().replace(*change))
    texts = [str(p) for p in plan(load([tmp_path])).problems]
    assert any(name.removeprefix("Model.spec.") in text for text in texts)
