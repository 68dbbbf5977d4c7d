"""What the outputs of the shipped stacks say of workloads is there."""

import pytest

from tests.stacks.shipped import ON_AWS, run
from workbench.engine.values import reveal

pytestmark = pytest.mark.usefixtures("here")


@pytest.mark.parametrize("stack", ON_AWS)
def test_each_workload_of_the_models_is_registered(stack: str) -> None:
    graph = run(stack, preview=True)
    registered = {
        (entry.inputs["kind"], entry.inputs["metadata"]["namespace"], entry.inputs["metadata"]["name"])
        for entry in graph.graph
        if "namespace" in (entry.inputs.get("metadata") or {})
    }
    models = reveal(dict(graph.exports))["models"]
    named = {
        (model["workloadKind"], model["namespace"], part)
        for model in models.values()
        for part in model.get("parts") or [model["workload"]]
    }
    assert named - registered == set()
