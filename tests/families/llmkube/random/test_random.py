"""2,000 random InferenceServices render alike and use every field; 2,000 with one fault are refused at its field.

What the contract itself refuses is in :mod:`.test_documents`.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from components.contract.documents.writer import dump_all
from components.contract.findings.ids import FINAL
from components.fleet.rendered import Fleet
from tests.families.llmkube.api.documents import ROWS
from tests.families.llmkube.random.faults import DOUBTS, FAULTS, Fault
from tests.families.llmkube.random.models import VENDORS
from tests.families.llmkube.random.strategies import EXAMPLES, RUNTIMES, drawn
from tests.fleets import errors, warnings

SHARE = 0.95
FIELDS = {f"{row['type']}.{row['field']}" for row in ROWS if re.search(r"\.spec\b", row["type"])}


def written(fleet: Fleet) -> str:
    return dump_all(body for item in fleet.rendered for body in item.objects)


def places(value: Any, above: str) -> Iterator[str]:
    """Yield the path of every field, without places in lists."""
    if isinstance(value, list):
        for item in value:
            yield from places(item, above)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield f"{above}.{key}"
            yield from places(item, f"{above}.{key}")


def test_nearly_all_of_them_render() -> None:
    problems = [[str(p) for p in errors(example.rendered())] for example in drawn()]
    assert len(problems) == EXAMPLES
    assert sum(not found for found in problems) >= SHARE * EXAMPLES, [found for found in problems if found]


def test_every_field_is_set_in_what_renders() -> None:
    rendered = [example for example in drawn() if not errors(example.rendered())]
    found = {
        place
        for example in rendered
        for document in example.documents
        for place in places(document["spec"], f"{document['kind']}.spec")
    }
    assert len(FIELDS) >= 100
    assert FIELDS - found == set()


def test_all_that_can_be_chosen_is_drawn() -> None:
    specs = [(example.service["spec"], example.model["spec"]) for example in drawn()]
    assert {service.get("runtime", "llamacpp") for service, _ in specs} == set(RUNTIMES)
    starts = {re.split(r"(?<=//)|(?<=^/)", model["source"])[0] for _, model in specs}
    assert {"https://", "http://", "pvc://", "file://", "/", "org/repo", "gpt2"} <= starts
    accelerators = {model["hardware"].get("accelerator") for _, model in specs}
    assert accelerators == {*VENDORS.values(), "cpu", None}
    assert {service["resources"]["gpu"] for service, _ in specs if "gpu" in service.get("resources", {})} == {
        0,
        1,
        2,
        4,
        8,
    }
    assert len({example.service["metadata"]["name"] for example in drawn()}) > EXAMPLES / 2


def test_again_and_in_another_order_they_give_the_same_bytes() -> None:
    order = Random(0)
    for example in drawn():
        first = written(example.rendered())
        assert written(example.rendered()) == first
        assert written(example.rendered(order)) == first
        assert first or errors(example.rendered())


# -- with one thing wrong

mutated = settings(max_examples=EXAMPLES, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
seeds = st.integers(0, 2**48)


@mutated
@given(st.sampled_from(FAULTS), seeds)
def test_a_service_with_one_fault_is_refused_at_the_very_field(fault: Fault, seed: int) -> None:
    example = fault.made(Random(seed))
    fleet = example.rendered()
    assert {p.path for p in errors(fleet)} == {fault.path}, (fault.title, list(map(str, errors(fleet))))
    assert {(p.kind, p.name) for p in errors(fleet)} == {("InferenceService", example.service["metadata"]["name"])}
    assert all(p.reason for p in errors(fleet))
    if any(problem.rule in FINAL for problem in errors(fleet)):
        assert not fleet.rendered


@settings(mutated, max_examples=EXAMPLES // 10)
@given(st.sampled_from(DOUBTS), seeds)
def test_what_is_doubtful_renders_with_a_warning_at_the_very_field(fault: Fault, seed: int) -> None:
    fleet = fault.made(Random(seed)).rendered()
    assert not errors(fleet), fault.title
    assert fault.path in {p.path for p in warnings(fleet)}, fault.title
    assert fleet.rendered


@pytest.mark.parametrize("fault", [*FAULTS, *DOUBTS], ids=lambda fault: fault.title)
def test_without_the_fault_the_same_service_renders(fault: Fault) -> None:
    """So that it is the fault that is refused; each of the table is tried, whatever chance draws."""
    right = replace(fault, service={}, model={}, name="").made(Random(1))
    assert not errors(right.rendered())
    wrong = fault.made(Random(1)).rendered()
    assert fault.path in {p.path for p in wrong.problems}
    assert bool(errors(wrong)) is (fault in FAULTS)
