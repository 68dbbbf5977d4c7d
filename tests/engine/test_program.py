"""The contract with what Pulumi keeps private: the engine sees the graph that Pulumi's own mocks see."""

import asyncio
from typing import Any

import pulumi
import pytest

from tests.recorded import PROJECT, STACK, DuplicateUrnError, deploy, key_of
from workbench.engine.program.adapter import Monitor, Run, run_program
from workbench.engine.program.graph import ResourceGraph
from workbench.engine.values import Secret

OPTIONS = pulumi.ResourceOptions


def program() -> None:
    provider = pulumi.ProviderResource("kubernetes", "here", {"kubeconfig": "x"})
    aws = pulumi.ProviderResource("aws", "cloud", {"region": "eu-west-1"})
    bucket = pulumi.CustomResource("aws:s3/bucket:Bucket", "b", {"bucket": "x"}, OPTIONS(provider=aws))
    outer = pulumi.ComponentResource("proj:index:Outer", "outer", {}, OPTIONS(providers=[provider]))
    inner = pulumi.ComponentResource("proj:index:Inner", "inner", {}, OPTIONS(parent=outer))
    inputs: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "leaf", "namespace": "default"},
        "data": {"secret": pulumi.Output.secret("s"), "count": 3, "share": 0.5, "none": None},
    }
    leaf = pulumi.CustomResource("kubernetes:core/v1:ConfigMap", "leaf", inputs, OPTIONS(parent=inner))
    value = {**inputs, "metadata": {"name": "next", "namespace": "default"}, "data": {"of": leaf.urn}}
    pulumi.CustomResource(
        "kubernetes:core/v1:ConfigMap", "next", value, OPTIONS(provider=provider, depends_on=[inner, bucket])
    )
    pulumi.export("count", 3)
    pulumi.export("hidden", pulumi.Output.secret({"n": 1}))
    pulumi.export("nested", {"setting": pulumi.Config().get("key"), "list": [1, 2.5]})


@pytest.mark.parametrize("preview", [False, True])
def test_engine_and_mocks_see_the_same_graph(preview: bool) -> None:
    mocked = deploy(program, preview=preview, config={"key": "v"})
    graph = ResourceGraph(STACK, PROJECT)
    run = Run(PROJECT, STACK, preview, {f"{PROJECT}:key": "v"})
    exports = run_program(program, Monitor(graph), run)
    recorded = {
        key_of(urn): (
            key_of(node.registration.parent),
            key_of(node.registration.provider),
            tuple(sorted(map(key_of, node.registration.dependencies))),
            node.registration.inputs,
        )
        for urn, node in graph.nodes.items()
    }
    expected = {e.key: (e.parent, e.provider, e.dependencies, dict(e.inputs)) for e in mocked.graph}

    assert recorded == expected
    assert exports == mocked.exports
    assert exports == {
        "count": 3,
        "hidden": Secret({"n": 1}),
        "nested": {"setting": "v", "list": [1, 2.5]},
    }


def test_recorded_entries_are_plain_data() -> None:
    entry = deploy(program)["kubernetes:core/v1:ConfigMap::leaf"]
    assert entry.parent == "proj:index:Inner::inner"
    assert entry.provider == "pulumi:providers:kubernetes::here"
    assert entry.inputs["data"] == {"secret": Secret("s"), "count": 3, "share": 0.5}
    assert isinstance(entry.inputs["data"]["count"], int)


def test_urns_are_those_of_the_real_engine() -> None:
    graph = ResourceGraph("dev", "proj")
    run_program(program, Monitor(graph), Run("proj", "dev"))
    leaf = "urn:pulumi:dev::proj::proj:index:Outer$proj:index:Inner$kubernetes:core/v1:ConfigMap::leaf"
    assert leaf in graph.nodes
    assert "urn:pulumi:dev::proj::pulumi:providers:kubernetes::here" in graph.nodes


def test_a_duplicate_is_an_error_of_the_recorder() -> None:
    def twice() -> None:
        for _ in range(2):
            pulumi.ComponentResource("proj:index:Twin", "twin")

    with pytest.raises(DuplicateUrnError):
        deploy(twice)


def test_runs_are_isolated_and_exceptions_come_out() -> None:
    def failing() -> None:
        pulumi.export("left", 1)
        pulumi.Output.from_input(1).apply(lambda value: value / 0)

    with pytest.raises(ZeroDivisionError):
        deploy(failing)
    assert deploy(lambda: None).exports == {}


def test_asynchronous_programs() -> None:
    async def entry() -> dict[str, Any]:
        await asyncio.sleep(0)
        return {"answer": 42}

    assert deploy(lambda: pulumi.run(entry)).exports == {"answer": 42}
