"""2,000 random InferenceServices that are meant to render: they do, every time alike, and use every field."""

import re
from collections.abc import Iterator
from random import Random
from typing import Any

from components.render.types import Fleet
from components.render.yamltext import dump_all
from tests.api.llmkube_documents import ROWS
from tests.render.llmkube_strategies import EXAMPLES, RUNTIMES, VENDORS, drawn
from tests.render.support import errors

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
