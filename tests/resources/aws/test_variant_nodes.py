"""Nodes for variants: as many as their peaks need, by the same service levels as the models."""

from typing import Any

import pulumi
import pulumi_kubernetes
import yaml

from components.resources.serving.simulated_nodes import SimulatedNodes
from tests.layers.modules import ROOT
from tests.recorded import deploy
from tests.resources.aws.node_arguments import POOL, by_type, groups, pools, refusals

VARIANT: list[dict[str, Any]] = list(yaml.safe_load_all((ROOT / "stacks/variants/llama-8b.yaml").read_text()))
"""A replica takes 155 requests a minute, on one node (WVA spec 8.10)."""


def levels(per_minute: float) -> dict[str, Any]:
    promise = {"itl_ms": 30, "ttft_ms": 1000}
    return {
        "classes": [{"name": "Premium", "models": {"llama3-1-8b-instruct": promise}}],
        "loads": {"llama-8b": {"requests_per_minute": per_minute, "output_tokens": 512}},
    }


def test_node_groups() -> None:
    assert set(by_type(groups(manifests=VARIANT, service_levels=levels(480)))) == {"g6e.2xlarge"}


def test_a_variant_is_refused_without_a_promise_whoever_makes_nodes() -> None:
    found = refusals(manifests=VARIANT)
    assert "is in no service class" in found["spec.modelID"][0]
    assert "is unknown, so it cannot be sized" in found["metadata.name"][0]


def test_what_is_wrong_with_service_levels_is_told_at_its_place() -> None:
    wrong = {**levels(10), "loads": {"llama-8b": {"requests_per_minute": -1, "output_tokens": 512}}}
    found = refusals(manifests=VARIANT, service_levels=wrong)
    assert set(found) == {"service_levels.loads[llama-8b].requests_per_minute"}


def test_pools_of_karpenter() -> None:
    (pool,) = pools(manifests=VARIANT, service_levels=levels(480)).of(POOL)
    assert "g6e-2xlarge" in pool.name


def simulated(per_minute: float, **args: Any) -> int:
    def program() -> None:
        options = pulumi.ResourceOptions(providers=[pulumi_kubernetes.Provider("cluster", kubeconfig="k")])
        given: Any = {"manifests": VARIANT, "service_levels": levels(per_minute), **args}
        pulumi.export("nodes", SimulatedNodes("nodes", given, options).nodes)

    found: int = deploy(program).exports["nodes"]
    return found


def test_simulated_nodes_are_enough_for_the_peak() -> None:
    """In steps of eight: 4 and 13 replicas, one node each, and those of an update."""
    assert (simulated(480), simulated(2000)) == (8, 16)
