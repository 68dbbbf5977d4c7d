"""Which models may evict which: the rules of kube-scheduler's preemption, as a table.

Expected outcomes follow from documents, not from the code under test:

- Kubernetes, "Pod Priority and Preemption": a pod that finds no node evicts pods of a lower priority on a node where
  that makes room; never with ``preemptionPolicy: Never``; a pod without a class has the priority of the class with
  ``globalDefault``, or 0. Only nodes that the pod's selector, affinity and tolerations allow are looked at.
- LLMKube spec 4.7: pods of an InferenceService always have a class; ``normal`` (10000) where none is written, and
  ``batch`` (100) never preempts.
- Volcano's chart (``installer/helm/chart/volcano/config/volcano-scheduler.conf``): the actions do not include
  ``preempt``, so pods that Volcano schedules evict no pods; kube-scheduler may evict them.
- llmaz, Kthena, LeaderWorkerSet: pods have the class that their template names, else none.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
import yaml

from components.contract.findings.annotations import PREFIX
from components.contract.problems import Problem
from components.families import parse
from components.plan.plan import Plan, plan
from components.plan.settings import FleetSettings

Object = dict[str, Any]
TYPE = "node.kubernetes.io/instance-type"
CAPACITY = "eks.amazonaws.com/capacityType"
ZONE = "topology.kubernetes.io/zone"
G6, G6E, CPU = "g6.2xlarge", "g6e.2xlarge", "m7i.2xlarge"
MIXED, UNCHECKED = "priority-mixed", "priority-unchecked"


def kube(
    name: str,
    instance_type: str | None = G6,
    *,
    gpus: int = 1,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    **spec: Any,
) -> list[Object]:
    """An InferenceService of LLMKube with its Model; further fields of its spec by their wire names."""
    hardware = {"hardware": {"accelerator": "cuda", "gpu": {"enabled": True, "count": gpus, "vendor": "nvidia"}}}
    model = {"source": "Qwen/Qwen2-0.5B-Instruct", "format": "safetensors", **(hardware if gpus else {})}
    if not gpus:
        model = {"source": "https://example.com/m.gguf"}
    engine = {"runtime": "vllm", "skipModelInit": True} if gpus else {}
    nodes = {**({TYPE: instance_type} if instance_type else {}), **(labels or {})}
    spec = {"modelRef": name, **engine, "resources": {"cpu": "2", "memory": "8Gi"}, "nodeSelector": nodes, **spec}
    api = {"apiVersion": "inference.llmkube.dev/v1alpha1"}
    meta = {"name": name, **({"annotations": dict(annotations)} if annotations else {})}
    return [
        {**api, "kind": "Model", "metadata": {"name": name}, "spec": model},
        {**api, "kind": "InferenceService", "metadata": meta, "spec": spec},
    ]


def llmaz(
    name: str,
    *types: str | None,
    gpus: int = 1,
    labels: Mapping[str, str] | None = None,
    namespace: str = "",
    backend: str = "",
) -> list[Object]:
    """A Playground with its OpenModel, on some instance types in order of preference; on any nodes with None."""
    limits = {"limits": {"nvidia.com/gpu": gpus}} if gpus else {}
    flavors = [
        {
            "name": f"f{place}",
            **limits,
            **({"params": {"INSTANCE-TYPE": each}} if each else {}),
            **({"nodeSelector": dict(labels)} if labels else {}),
        }
        for place, each in enumerate(types or (G6,))
    ]
    source = {"modelHub": {"modelID": "Qwen/Qwen2-0.5B-Instruct"}}
    if not gpus:
        source = {
            "modelHub": {"modelID": "Qwen/Qwen2-0.5B-Instruct-GGUF", "filename": "qwen2-0_5b-instruct-q5_k_m.gguf"}
        }
    spec = {"familyName": "qwen2", "source": source, "inferenceConfig": {"flavors": flavors}}
    meta = {"name": name, **({"namespace": namespace} if namespace else {})}
    config = {"backendRuntimeConfig": {"backendName": "llamacpp"}} if not gpus else {}
    return [
        {"apiVersion": "llmaz.io/v1alpha1", "kind": "OpenModel", "metadata": {"name": name}, "spec": spec},
        {
            "apiVersion": "inference.llmaz.io/v1alpha1",
            "kind": "Playground",
            "metadata": meta,
            "spec": {"modelClaim": {"modelName": name}, **config},
        },
    ]


def pod(instance_type: str = G6, **spec: Any) -> Object:
    """A pod template with one GPU on a type; further fields of its spec."""
    engine = {
        "name": "engine",
        "image": "vllm/vllm-openai:v0.9.0",
        "args": ["--model", "Qwen/Qwen2-0.5B-Instruct"],
        "ports": [{"name": "http", "containerPort": 8000}],
        "resources": {"requests": {"cpu": "1", "memory": "8Gi"}, "limits": {"nvidia.com/gpu": "1"}},
    }
    tolerations = [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    return {
        "spec": {"nodeSelector": {TYPE: instance_type}, "tolerations": tolerations, "containers": [engine], **spec}
    }


def lws(name: str, leader: Object | None = None, **worker: Any) -> list[Object]:
    """A LeaderWorkerSet whose workers have further fields, and its leader perhaps others."""
    template: Object = {"size": 2 if leader is not None else 1, "workerTemplate": pod(**worker)}
    if leader is not None:
        template["leaderTemplate"] = pod(**leader)
    api = {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet"}
    return [{**api, "metadata": {"name": name}, "spec": {"leaderWorkerTemplate": template}}]


def kthena(name: str, *, gang: bool = False, **spec: Any) -> list[Object]:
    """A ModelServing of one role, or of two that must start together."""
    entry = {"workerReplicas": 0, "replicas": 1, "entryTemplate": pod(**spec)}
    template: Object = {"roles": [{"name": "one", **entry}]}
    if gang:
        template["roles"].append({"name": "two", **entry})
        template["gangPolicy"] = {"minRoleReplicas": {"one": 1, "two": 1}}
    return [
        {
            "apiVersion": "workload.serving.volcano.sh/v1alpha1",
            "kind": "ModelServing",
            "metadata": {"name": name},
            "spec": {"replicas": 1, "schedulerName": "volcano", "template": template},
        }
    ]


def klass(name: str, value: int, **rest: Any) -> list[Object]:
    """A PriorityClass."""
    return [
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
            **rest,
        }
    ]


@dataclass(frozen=True)
class Case:
    """Manifests and settings; and per resource that may evict others, whom, and whether somebody chose that.

    Attributes:
        evicts: Severity and victims by resource. ``warning`` for default priorities, ``note`` for stated ones.
        unknown: Resources whose class has a value that nothing here says.
    """

    documents: list[Object]
    evicts: Mapping[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)


APPLY = {"otherKinds": "apply"}
OPERATED: Object = {"endpoint": {"port": 8000}, "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]}
NAMES = ("a", "b", "c", "d", "e")
CASES: dict[str, Case] = {
    # One family has a class by default, the others have none.
    "llmkube and llmaz": Case([*kube("k"), *llmaz("p")], {"InferenceService/k": ("warning", ("Playground/p",))}),
    "llmkube and kthena": Case([*kube("k"), *kthena("s")], {"InferenceService/k": ("warning", ("ModelServing/s",))}),
    "llmkube and a LeaderWorkerSet": Case(
        [*kube("k"), *lws("l")], {"InferenceService/k": ("warning", ("LeaderWorkerSet/l",))}
    ),
    "llmkube and all others": Case(
        [*kube("k"), *lws("l"), *kthena("s"), *llmaz("p")],
        {"InferenceService/k": ("warning", ("LeaderWorkerSet/l", "ModelServing/s", "Playground/p"))},
    ),
    "two of llmkube and one of llmaz": Case(
        [*kube("j"), *kube("k"), *llmaz("p")],
        {"InferenceService/j": ("warning", ("Playground/p",)), "InferenceService/k": ("warning", ("Playground/p",))},
    ),
    "two of llmkube": Case([*kube("j"), *kube("k")]),
    "three families without a class": Case([*llmaz("p"), *kthena("s"), *lws("l")]),
    "one alone": Case(kube("k")),
    "no replicas": Case([*kube("k", replicas=0), *llmaz("p")]),
    # Priorities of LLMKube that are written.
    "high is a choice": Case(
        [*kube("k", priority="high"), *llmaz("p")], {"InferenceService/k": ("note", ("Playground/p",))}
    ),
    "critical above the default": Case(
        [*kube("j", priority="critical"), *kube("k")], {"InferenceService/j": ("note", ("InferenceService/k",))}
    ),
    "normal that is written goes first just as well": Case(
        [*kube("k", priority="normal"), *llmaz("p")], {"InferenceService/k": ("warning", ("Playground/p",))}
    ),
    "low is above none at all": Case(
        [*kube("k", priority="low"), *llmaz("p")], {"InferenceService/k": ("warning", ("Playground/p",))}
    ),
    "batch never preempts": Case([*kube("k", priority="batch"), *llmaz("p")]),
    "low yields to the default, as it asks": Case(
        [*kube("j", priority="low"), *kube("k")], {"InferenceService/k": ("note", ("InferenceService/j",))}
    ),
    "batch yields to the default, as it asks": Case(
        [*kube("j", priority="batch"), *kube("k")], {"InferenceService/k": ("note", ("InferenceService/j",))}
    ),
    "batch yields, and llmaz is evicted too": Case(
        [*kube("j", priority="batch"), *kube("k"), *llmaz("p")],
        {"InferenceService/k": ("warning", ("InferenceService/j", "Playground/p"))},
    ),
    "a class of LLMKube's by its name": Case(
        [*kube("k", priorityClassName="llmkube-critical"), *llmaz("p")],
        {"InferenceService/k": ("note", ("Playground/p",))},
    ),
    # Classes of others.
    "a class that nothing here has": Case(
        [*kube("j", priorityClassName="team"), *kube("k")], unknown=("InferenceService/j",)
    ),
    "a class among the manifests, below the default": Case(
        [*klass("team", 5), *kube("j", priorityClassName="team"), *kube("k")],
        {"InferenceService/k": ("note", ("InferenceService/j",))},
        settings=APPLY,
    ),
    "a class among the manifests, above the default": Case(
        [*klass("team", 20000), *kube("j", priorityClassName="team"), *kube("k")],
        {"InferenceService/j": ("note", ("InferenceService/k",))},
        settings=APPLY,
    ),
    "a class above that never preempts": Case(
        [*klass("team", 20000, preemptionPolicy="Never"), *kube("j", priorityClassName="team"), *kube("k")],
        settings=APPLY,
    ),
    "a negative class is below none": Case(
        [*klass("spare", -5), *lws("l", priorityClassName="spare"), *llmaz("p")],
        {"Playground/p": ("note", ("LeaderWorkerSet/l",))},
        settings=APPLY,
    ),
    "a class that is left out of what is created": Case(
        [*klass("team", 20000), *kube("j", priorityClassName="team"), *kube("k")],
        unknown=("InferenceService/j",),
        settings={"otherKinds": "skip"},
    ),
    "a global default as high as LLMKube's": Case(
        [*klass("all", 10000, globalDefault=True), *kube("k"), *llmaz("p")], settings=APPLY
    ),
    "a global default above LLMKube's, which neither asked for": Case(
        [*klass("all", 20000, globalDefault=True), *kube("k"), *llmaz("p")],
        {"Playground/p": ("warning", ("InferenceService/k",))},
        settings=APPLY,
    ),
    "a class of the system": Case(
        [*lws("l", priorityClassName="system-cluster-critical"), *llmaz("p")],
        {"LeaderWorkerSet/l": ("note", ("Playground/p",))},
    ),
    "two of the same unknown class": Case(
        [*lws("l", priorityClassName="team"), *kube("k", priorityClassName="team")]
    ),
    # Parts of one resource, and schedulers.
    "only a leader has a class": Case(
        [*klass("front", 100), *lws("l", {"priorityClassName": "front"}), *llmaz("p")],
        {"LeaderWorkerSet/l": ("note", ("Playground/p",))},
        settings=APPLY,
    ),
    "only a leader has a class, and nobody else is there": Case(
        [*klass("front", 100), *lws("l", {"priorityClassName": "front"})], settings=APPLY
    ),
    "Volcano evicts nobody": Case(
        [*klass("front", 100), *kthena("s", gang=True, priorityClassName="front"), *llmaz("p")], settings=APPLY
    ),
    "Kthena without a gang": Case(
        [*klass("front", 100), *kthena("s", priorityClassName="front"), *llmaz("p")],
        {"ModelServing/s": ("note", ("Playground/p",))},
        settings=APPLY,
    ),
    "a gang of Volcano's is evicted": Case(
        [*kube("k"), *kthena("s", gang=True)], {"InferenceService/k": ("warning", ("ModelServing/s",))}
    ),
    "a scheduler of which nothing is known": Case(
        [*klass("front", 100), *lws("l", priorityClassName="front", schedulerName="own"), *llmaz("p")],
        unknown=("LeaderWorkerSet/l",),
        settings=APPLY,
    ),
    # Which nodes they share.
    "other instance types": Case([*kube("k", G6), *llmaz("p", G6E)]),
    "the second flavor": Case(
        [*kube("k", G6), *llmaz("p", G6E, G6)], {"InferenceService/k": ("warning", ("Playground/p",))}
    ),
    "spot nodes of the same type are nodes of the type": Case(
        [*kube("k"), *llmaz("p", G6, labels={CAPACITY: "SPOT"})],
        {"InferenceService/k": ("warning", ("Playground/p",))},
    ),
    "one on spot nodes, one on demand": Case(
        [*kube("k", labels={CAPACITY: "ON_DEMAND"}), *llmaz("p", G6, labels={CAPACITY: "SPOT"})]
    ),
    "other zones": Case([*kube("k", labels={ZONE: "us-east-1a"}), *llmaz("p", G6, labels={ZONE: "us-east-1b"})]),
    "the same zone": Case(
        [*kube("k", labels={ZONE: "us-east-1a"}), *llmaz("p", G6, labels={ZONE: "us-east-1a"})],
        {"InferenceService/k": ("warning", ("Playground/p",))},
    ),
    "nodes without GPUs": Case(
        [*kube("k", CPU, gpus=0), *llmaz("p", CPU, gpus=0)], {"InferenceService/k": ("warning", ("Playground/p",))}
    ),
    "with GPUs and without": Case([*kube("k", CPU, gpus=0), *llmaz("p", G6)]),
    "both on any node with a GPU": Case(
        [*kube("k", None), *llmaz("p", None)], {"InferenceService/k": ("warning", ("Playground/p",))}
    ),
    "one on any node with a GPU": Case(
        [*kube("k", None), *llmaz("p", G6)], {"InferenceService/k": ("warning", ("Playground/p",))}
    ),
    "another namespace": Case(
        [*kube("k"), *llmaz("p", namespace="default")], {"InferenceService/k": ("warning", ("Playground/p",))}
    ),
    "five victims": Case(
        [*kube("k"), *(each for name in NAMES for each in llmaz(name))],
        {"InferenceService/k": ("warning", tuple(f"Playground/{name}" for name in NAMES))},
    ),
    # What the environment says.
    "one default for all": Case(
        [*kube("k"), *llmaz("p"), *kthena("s")], settings={"hardening": {"priority": "standard"}}
    ),
    "one default of batch": Case([*kube("k"), *llmaz("p")], settings={"hardening": {"priority": "batch"}}),
    "no class for anybody": Case([*kube("k"), *llmaz("p")], settings={"hardening": {"priority": "none"}}),
    "no class for anybody but one": Case(
        [*kube("j", priority="high"), *kube("k"), *llmaz("p")],
        {"InferenceService/j": ("note", ("InferenceService/k", "Playground/p"))},
        settings={"hardening": {"priority": "none"}},
    ),
    "one default, and one above": Case(
        [*kube("j", priority="high"), *kube("k"), *llmaz("p")],
        {"InferenceService/j": ("note", ("InferenceService/k", "Playground/p"))},
        settings={"hardening": {"priority": "standard"}},
    ),
    "one default, and one below": Case(
        [*kube("j", priority="low"), *llmaz("p")],
        {"Playground/p": ("note", ("InferenceService/j",))},
        settings={"hardening": {"priority": "critical"}},
    ),
    "a class of the environment's own": Case(
        [*kube("k"), *llmaz("p")], settings={"pods": {"priorityClassName": "team"}}
    ),
    "a class of the environment's own, and one of LLMKube's": Case(
        [*kube("j", priority="high"), *kube("k"), *llmaz("p")],
        unknown=("/",),  # said once, of the setting
        settings={"pods": {"priorityClassName": "team"}},
    ),
    "the operator's pods have its class": Case(
        [*kube("k", **OPERATED), *llmaz("p")],
        {"InferenceService/k": ("warning", ("Playground/p",))},
        settings={"realizations": {"llmkube": "operator"}},
    ),
    "the operator's pods do not have the environment's": Case(
        [*kube("k", **OPERATED), *llmaz("p")],
        {"InferenceService/k": ("warning", ("Playground/p",))},
        settings={"realizations": {"llmkube": "operator"}, "hardening": {"priority": "none"}},
    ),
    "the operator's pods with a class as low as the others": Case(
        [*klass("zero", 0), *kube("k", **OPERATED, priorityClassName="zero"), *llmaz("p")],
        settings={"realizations": {"llmkube": "operator"}, **APPLY},
    ),
}


def planned(case: Case) -> Plan:
    manifests = parse(yaml.safe_dump_all(case.documents, sort_keys=False), "fleet.yaml")
    return plan(manifests, FleetSettings.model_validate(dict(case.settings)).environment())


def of_rule(found: Plan, rule: str) -> dict[str, Problem]:
    return {f"{each.kind}/{each.name}": each for each in found.problems if each.rule == rule}


@pytest.mark.parametrize("name", CASES)
def test_who_may_evict_whom(name: str) -> None:
    case = CASES[name]
    found = planned(case)
    assert not [str(each) for each in found.problems if each.is_error]
    mixed = of_rule(found, MIXED)
    assert {key: str(each.severity) for key, each in mixed.items()} == {
        key: severity for key, (severity, _) in case.evicts.items()
    }
    for key, (_, victims) in case.evicts.items():
        shown = victims[:3]
        assert all(victim in mixed[key].reason for victim in shown), mixed[key].reason
        others = (
            {f"{each.kind}/{each.name}" for each in found.fleet.rendered if each.workloads} - set(victims) - {key}
        )
        assert not any(f"{other} " in mixed[key].reason for other in others), mixed[key].reason
        assert (f"and {len(victims) - 3} more" in mixed[key].reason) == (len(victims) > 3)
    assert tuple(sorted(of_rule(found, UNCHECKED))) == tuple(sorted(case.unknown))


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 40
    assert sum(not case.evicts for case in CASES.values()) >= 15


class TestTheSetting:
    """``hardening.priority`` is the one default: it reaches what has a default of its family, too."""

    @pytest.mark.parametrize(
        ("settings", "spec", "expected"),
        [
            ({}, {}, "llmkube-normal"),
            ({"hardening": {"priority": "standard"}}, {}, "inference-standard"),
            ({"hardening": {"priority": "none"}}, {}, None),
            ({"hardening": {"priority": "standard"}}, {"priority": "high"}, "llmkube-high"),
            ({"hardening": {"priority": "none"}}, {"priorityClassName": "own"}, "own"),
            ({"hardening": {"priority": "none"}, "pods": {"priorityClassName": "team"}}, {}, "team"),
            ({"pods": {"priorityClassName": "team"}}, {}, "team"),
        ],
    )
    def test_the_class_of_an_inference_service(self, settings: Object, spec: Object, expected: str | None) -> None:
        found = planned(Case(kube("k", **spec), settings=settings))
        ((_, workload),) = found.fleet.workloads
        assert workload.front["spec"].get("priorityClassName") == expected

    @pytest.mark.parametrize(("priority", "created"), [
        (None, {"llmkube-normal"}),
        ("standard", {"inference-batch", "inference-critical", "inference-standard"}),
        ("none", set()),
    ])  # fmt: skip
    def test_classes_that_are_created(self, priority: str | None, created: set[str]) -> None:
        settings = {"hardening": {"priority": priority}} if priority else {}
        found = planned(Case([*kube("k"), *llmaz("p")], settings=settings))
        assert {body["metadata"]["name"] for body in found.objects if body["kind"] == "PriorityClass"} == created


def test_what_a_message_says() -> None:
    found = of_rule(planned(CASES["llmkube and llmaz"]), MIXED)["InferenceService/k"]
    assert (found.path, found.file) == ("spec.priority", "fleet.yaml")
    assert found.reason == (
        "its pods have priority 10000 (llmkube-normal, the default of InferenceService), and "
        "those of Playground/p (0) a lower one on the same nodes (g6-2xlarge): if no node has room, the scheduler "
        "evicts these before a node is added; set hardening.priority, the default of all models that set none "
        "(`none` for no class)"
    )


@pytest.mark.parametrize(("name", "whence", "remedy"), [
    ("normal that is written goes first just as well", "set here", "; remove it, and set hardening.priority, "),
    ("low is above none at all", "set here", "; remove it, and set hardening.priority, "),
    ("high is a choice", "set here", "; if that is not intended, remove it"),
    ("low yields to the default, as it asks", "the default of InferenceService", "remove the lower priority of the"),
    ("the operator's pods have its class", "the default of InferenceService", "; set a PriorityClass here that is"),
])  # fmt: skip
def test_the_remedy_is_one_that_helps(name: str, whence: str, remedy: str) -> None:
    (found,) = of_rule(planned(CASES[name]), MIXED).values()
    assert f"{whence})" in found.reason
    assert remedy in found.reason


def test_it_can_be_ignored_with_a_reason() -> None:
    case = Case([*kube("k", annotations={f"{PREFIX}{MIXED}": "agreed"}), *llmaz("p")])
    found = planned(case)
    assert not of_rule(found, MIXED)
    assert [str(each.problem.rule) for each in found.ignored] == [MIXED]


def test_pairs_are_not_compared_one_by_one() -> None:
    documents = [each for number in range(250) for each in (*kube(f"k{number}"), *llmaz(f"p{number}"))]
    found = of_rule(planned(Case(documents)), MIXED)
    assert len(found) == 250
    first = "Playground/p0 (0), Playground/p1 (0), Playground/p10 (0) and 247 more"
    assert all(first in each.reason for each in found.values())
