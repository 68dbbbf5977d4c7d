"""What other Pulumi languages see. After a wanted change: ``make schema-golden``, and read the diff."""

import json
import sys
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from pulumi.provider.experimental.component import ComponentProvider
from pydantic.alias_generators import to_camel

from components.families.llmaz.components import BackendRuntime, OpenModel, Playground, Service
from components.families.llmkube.components import InferenceService, Model
from components.serving.arguments import WorkloadArgs

GOLDEN = Path(__file__).with_name("data") / "schema.json"
COMPONENTS = (OpenModel, BackendRuntime, Playground, Service, Model, InferenceService)


def schema() -> dict[str, Any]:
    inferred = ComponentProvider(list(COMPONENTS), "inference-platform", version="0.0.0").schema
    parsed: dict[str, Any] = json.loads(inferred or "{}")
    return parsed


def test_the_inferred_schema_is_the_golden_one() -> None:
    assert schema() == json.loads(GOLDEN.read_text())


@pytest.mark.parametrize("component", COMPONENTS)
def test_every_argument_is_documented(component: type[Any]) -> None:
    described = schema()["resources"][f"inference-platform:index:{component.__name__}"]["inputProperties"]
    assert described
    without = {name for name, facts in described.items() if not facts.get("description")}
    # The analyzer reads documentation in the class itself only; inherited arguments carry theirs in Python.
    shared = {to_camel(name) for name in WorkloadArgs.__annotations__}
    assert without == (shared if component in (Playground, Service) else set())


@pytest.mark.parametrize(
    ("component", "outputs"),
    [
        (Playground, {"endpoint", "model", "workloadName", "namespace"}),
        (Service, {"endpoint", "model", "workloadName", "namespace"}),
        (InferenceService, {"endpoint", "model", "workloadName", "namespace"}),
    ],
)
def test_outputs_are_these_and_no_others(component: type[Any], outputs: set[str]) -> None:
    resource = schema()["resources"][f"inference-platform:index:{component.__name__}"]
    assert set(resource["properties"]) == outputs


def test_argument_types_resolve() -> None:
    """Annotations that are strings would be refused by the analyzer."""
    for component in COMPONENTS:
        assert get_type_hints(component.__init__)["args"]


if __name__ == "__main__":
    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.write_text(json.dumps(schema(), indent=2, sort_keys=True) + "\n")
    sys.exit(0)
