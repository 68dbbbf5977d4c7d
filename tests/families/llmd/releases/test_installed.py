"""A stack whose variants are the controller's, at each release: what is installed, and what is refused."""

from typing import Any

import pytest

from components.checks.metrics.chain import MetricSettings
from components.families import objects
from components.fleet.levels import LatencyTargets, ServiceClass
from components.fleet.options import Options
from components.fleet.words import WorkloadChoice
from components.plan.environment import Environment
from components.plan.plan import Plan, plan
from components.plan.prerequisites.needed import ClusterFacts
from tests.families.llmd.operated.support import HOME, LABEL, Object, levels
from tests.families.llmd.operated.test_installed import ARGS, CONTROLLER, OWN, URL, of_kind, wrong
from tests.families.llmd.releases.support import PARAMETERS
from tests.families.llmd.support import MODEL, of_llmkube
from tests.recorded import Recorded
from tests.resources.serving.manifests import fleet

BY_NAME, TARGET = "v0.4.2", "v0.5.1"


def variant(release: str) -> Object:
    """A variant of the Deployment ``chat``."""
    spec: Object = {"modelID": MODEL}
    if release == TARGET:
        spec["scaleTargetRef"] = {"kind": "Deployment", "name": "chat"}
    else:
        entry = {"acc": "L4", "accCount": 1, "perfParms": PARAMETERS, "maxBatchSize": 4}
        spec["modelProfile"] = {"accelerators": [entry]}
    if release == "v0.0.4":
        spec["sloClassRef"] = {"name": "service-classes-config", "key": "premium.yaml"}
    return {
        "apiVersion": "llmd.ai/v1alpha1",
        "kind": "VariantAutoscaling",
        "metadata": {"name": "chat", "labels": {LABEL: "L4"}},
        "spec": spec,
    }


def manifests(release: str) -> list[Object]:
    found = [*of_llmkube(), variant(release)]
    for document in found:
        document["metadata"].pop("namespace", None)
    return found


def planned(release: str, **facts: Any) -> Plan:
    options = Options(
        levels=levels(ServiceClass("Premium", 1, {MODEL: LatencyTargets(24, 500)}), prometheus=URL),
        realizations=OWN,
        releases={"llmd": release},
        workload=WorkloadChoice.DEPLOYMENT,
    )
    environment = Environment(options, MetricSettings(), ClusterFacts(**{"version": "1.35", **facts}), install=True)
    return plan(
        objects([*of_llmkube(namespace="default"), variant(release)], releases={"llmd": release}), environment
    )


def registered(release: str, **args: Any) -> Recorded:
    service_levels = {
        **ARGS["service_levels"],
        "classes": [{"name": "Premium", "models": {MODEL: {"itl_ms": 24, "ttft_ms": 500}}}],
    }
    return fleet(
        manifests(release), **{**ARGS, "service_levels": service_levels, "releases": {"llmd": release}, **args}
    )


def test_the_controller_of_the_release_is_installed() -> None:
    found = planned(BY_NAME)
    assert not wrong(found)
    assert "wva" in [each.chart.name for each in found.prerequisites]
    recorded = registered(BY_NAME)
    (controller,) = recorded.of(CONTROLLER)
    (deployment,) = [
        each.inputs
        for each in of_kind(recorded, "Deployment")
        if each.inputs["metadata"]["name"] == "inferno-autoscaler-controller-manager"
    ]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert container["image"].endswith(":v0.4.2")
    names = {each.inputs["metadata"]["name"]: each.inputs for each in of_kind(recorded, "ConfigMap")}
    assert {"accelerator-unit-costs", "service-classes-config"} <= set(names)
    assert names["workload-variant-autoscaler-variantautoscaling-config"]["metadata"]["namespace"] == HOME
    (namespace,) = [each for each in of_kind(recorded, "Namespace") if each.inputs["metadata"]["name"] == HOME]
    assert namespace.key in controller.dependencies


@pytest.mark.parametrize(("release", "word"), [("v0.0.4", "compiled in"), (TARGET, "InferencePool")])
def test_a_controller_that_cannot_be_installed_is_refused_at_the_setting(release: str, word: str) -> None:
    (problem,) = wrong(planned(release))
    assert problem.startswith("<program>: releases.llmd: ")
    assert word in problem
    assert "list wva under present" in problem


@pytest.mark.parametrize("release", ["v0.0.4", TARGET])
def test_one_that_is_there_already_gets_the_variants(release: str) -> None:
    found = planned(release, present=frozenset({"wva"}))
    assert not wrong(found)
    assert "wva" not in [each.chart.name for each in found.prerequisites]
    assert "VariantAutoscaling" in [body["kind"] for body in found.objects]
