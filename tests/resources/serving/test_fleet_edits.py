"""An edit of one model leaves every other model's resources as they are: their URNs and their inputs."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.fleets import open_model, playground, service
from tests.recorded import Entry, Recorded
from tests.resources.serving.manifests import A10G, Object, fleet, in_namespace, inference_service, weights

FLEET: Mapping[str, Mapping[str, Any]] = {
    "plain": {"simulated_nodes": True, "custom_resources": True},
    "everything": {
        "prerequisites": {"install": True, "monitoring": True},
        "front_door": {"expose": "load-balancer", "internal": True, "client_cidrs": ["10.0.0.0/8"]},
        "hardening": {
            "pod_security": "baseline",
            "disruption_budgets": True,
            "topology_spread": True,
            "priority": "standard",
            "network_policies": True,
        },
    },
    "operator": {
        "cluster": {"cloud": "aws", "name": "c", "region": "us-east-1"},
        "realization": "operator",
        "custom_resources": True,
        "prerequisites": {"install": True},
    },
}
OF_ALL = {
    "kubernetes:core/v1:ConfigMap",
    "kubernetes:monitoring.coreos.com/v1:PrometheusRule",
    "kubernetes:helm.sh/v3:Release",
}
"""Dashboard, alerts and adapter rules tell of all models."""


@dataclass(frozen=True)
class Model:
    """One model: what it is called, and what it is."""

    namespace: str
    name: str
    kind: str
    replicas: int
    metric: bool = False

    @property
    def place(self) -> str:
        return f"{self.namespace}/{self.name}"

    def documents(self) -> list[Object]:
        # Names of models are those of the cluster with llmaz: each place has its own.
        weights_name = f"w-{self.namespace}--{self.name}"
        if self.kind == "InferenceService":
            scaled: Object = {"autoscaling": {"maxReplicas": 3, "metrics": [SHORT]}, "resources": {"cpu": "1"}}
            scaled = scaled if self.metric else {"replicas": self.replicas}
            return [
                weights(weights_name, self.namespace),
                inference_service(self.name, weights_name, self.namespace, **scaled, **OPERABLE),
            ]
        model = open_model(weights_name, "facebook/opt-125m", [A10G])
        if self.kind == "Service":
            return [model, in_namespace(service(self.name, weights_name, replicas=self.replicas), self.namespace)]
        spec: Object = {"elasticConfig": ELASTIC} if self.metric else {"replicas": self.replicas}
        return [model, in_namespace(playground(self.name, weights_name, **spec), self.namespace)]


CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}
OPERABLE = {"extraArgs": ["--hf-repo", "org/name"], "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]}
"""What LLMKube's operator wants of a service that it makes."""
SHORT = {"type": "Resource", "name": "cpu", "targetAverageUtilization": 50}
ELASTIC = {"minReplicas": 1, "maxReplicas": 3, "scaleTrigger": {"hpa": {"metrics": [CPU]}}}
NAMES = st.sampled_from(["a", "b", "a-b", "b-a", "a-hpa", "models"])
MODELS = st.builds(
    Model,
    namespace=st.sampled_from(["models", "a", "a-b", "default"]),
    name=NAMES,
    kind=st.sampled_from(["Playground", "Service", "InferenceService"]),
    replicas=st.integers(0, 3),
    metric=st.booleans(),
)
EDITS = st.tuples(st.sampled_from(["add", "remove", "rename", "move", "change"]), st.integers(0, 9), MODELS)


def edited(models: list[Model], edit: tuple[str, int, Model]) -> list[Model]:
    """The models after one edit; of the drawn model only what the edit changes is used."""
    what, position, drawn = edit
    if what == "add" or not models:
        return [*models, drawn]
    at = position % len(models)
    one = models[at]
    if what == "remove":
        return [*models[:at], *models[at + 1 :]]
    new = {
        "rename": replace(one, name=drawn.name),
        "move": replace(one, namespace=drawn.namespace),
        "change": replace(drawn, namespace=one.namespace, name=one.name),
    }[what]
    return [*models[:at], new, *models[at + 1 :]]


def registered(models: list[Model], kind: str) -> Recorded:
    return fleet([document for model in models for document in model.documents()], **FLEET[kind])


def untouched(recorded: Recorded, touched: set[str]) -> dict[str, Entry]:
    """What does not belong to a touched model, nor to all of them."""
    return {
        f"{entry.parent} {entry.key}": entry
        for entry in recorded.graph
        if entry.type not in OF_ALL and not any(_belongs(entry, model) for model in touched)
    }


def _belongs(entry: Entry, place: str) -> bool:
    """Whether a resource is one of a model: by its name, or by the name of its weights."""
    namespace, _, name = place.partition("/")
    own = entry.name.removeprefix("fleet-")
    names = (place, f"{place}-lb", f"{place}-hpa", f"{place}-in", f"{place}.group", f"w-{namespace}--{name}")
    return own.endswith(names) or entry.parent.endswith(f"::fleet-{place}")


@pytest.mark.parametrize("kind", FLEET)
@settings(max_examples=8, deadline=None)
@given(start=st.lists(MODELS, min_size=1, max_size=4), edits=st.lists(EDITS, min_size=1, max_size=4))
def test_an_edit_touches_nothing_else(kind: str, start: list[Model], edits: list[tuple[str, int, Model]]) -> None:
    models = list({model.place: model for model in start}.values())
    before = registered(models, kind)
    for edit in edits:
        after_models = edited(models, edit)
        places = [model.place for model in after_models]
        assume(len(set(places)) == len(places))
        after = registered(after_models, kind)
        touched = {model.place for model in {*models} ^ {*after_models}}
        assert_same(untouched(before, touched), untouched(after, touched))
        models, before = after_models, after


def assert_same(before: Mapping[str, Entry], after: Mapping[str, Entry]) -> None:
    """What is in both is equal; only namespaces, nodes and what models share come and go."""
    for urn in before.keys() & after.keys():
        assert before[urn].inputs == after[urn].inputs, urn
        assert before[urn].parent == after[urn].parent, urn
    alone = before.keys() ^ after.keys()
    assert not {urn for urn, entry in {**before, **after}.items() if urn in alone and _stays(entry)}


def _stays(entry: Entry) -> bool:
    return entry.type.rpartition(":")[2] not in COMING_AND_GOING


COMING_AND_GOING = {
    *("Namespace", "Node", "SimulatedNodes"),
    # What a model may share with others: the priorities of LLMKube, definitions, charts, whole sets.
    *("PriorityClass", "CustomResources", "CustomResourceDefinition", "CustomResourceDefinitionPatch"),
    *("NetworkPolicies", "FrontDoor", "Monitoring", "PriorityClasses"),
    *("LlmazOperator", "LlmkubeOperator", "LeaderWorkerSetController", "MetricsServer"),
    *("Prometheus", "PrometheusAdapter", "NvidiaDevicePlugin", "DcgmExporter"),
}


def test_the_comparison_would_see_a_difference() -> None:
    two = [Model("models", "a", "Playground", 1), Model("a", "models", "Playground", 1)]
    before = untouched(registered(two, "plain"), {"a/models"})
    after = untouched(registered([replace(two[0], replicas=2), two[1]], "plain"), {"a/models"})
    with pytest.raises(AssertionError, match="fleet-models/a"):
        assert_same(before, after)
    with pytest.raises(AssertionError, match="fleet-models/a"):
        assert_same(before, {})
