"""The real API server judges: pods under Pod Security, and the objects that keep models apart and available."""

import copy
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from components.checks.front_door.balancers import Balancing
from components.checks.front_door.door import Door, front_door
from components.checks.front_door.words import Exposure
from components.checks.hardening.network_policies import Allowed, network_policies
from components.checks.hardening.settings import Hardening
from components.checks.hardening.words import PodSecurity, Priority
from components.checks.hardening.workloads import harden, priority_classes, restricted_exemptions
from components.families import load
from components.fleet.objects import Object
from components.fleet.options import Options
from components.fleet.rendered import Fleet, Rendered
from components.fleet.words import Edition, WorkloadChoice
from components.fleet.workloads import by_set
from components.plan.rendering import render_fleet
from tests.cluster.waiting import eventually
from tests.group_pods import pods_of
from tests.stacks.shipped import ROOT
from toolkit.kube import Kube, KubeError

MANAGER = "test-pod-security"
LEVELS = ("restricted", "baseline", "privileged")
ALL = Hardening(PodSecurity.RESTRICTED, disruption_budgets=True, topology_spread=True, priority=Priority.STANDARD)
ROOT_ONLY = {"root"}
EXEMPT: dict[str, set[str]] = {
    "deepseek-two-flavors": ROOT_ONLY,
    "embeddings": ROOT_ONLY,
    "gemma-elastic": ROOT_ONLY,
    "llama-405b": ROOT_ONLY,
    "llama-pd": ROOT_ONLY,
    "llama-sglang": ROOT_ONLY,
    "llama-speculative": ROOT_ONLY,
    "llama2-7b": ROOT_ONLY,
    "mistral-awq": ROOT_ONLY,
    "mistral-nemo": ROOT_ONLY,
    "phi4": ROOT_ONLY,
    "phi-hostpath": {"root", "hostPath"},
    "phi4-autoscaled": ROOT_ONLY,
    "qwen-chat": ROOT_ONLY,
    "qwen-oss": ROOT_ONLY,
    "qwen2-5-72b": ROOT_ONLY,
    "qwen2-5-7b": ROOT_ONLY,
    "qwen3-14b": ROOT_ONLY,
    "qwen3-8b": ROOT_ONLY,
    "qwen3-pd": ROOT_ONLY,
    "qwen3-32b": ROOT_ONLY,
    "qwen3-speculative": ROOT_ONLY,
}
"""The shipped models that do not meet ``restricted``, by what keeps them: images of vLLM, SGLang, TGI 3 and of
text-embeddings-inference and of Kthena's downloader, of which nothing is known; a folder."""
SAID = {
    "root": ("runAsNonRoot != true",),
    "hostPath": ("restricted volume types",),
}
"""What the admission of Pod Security says of each (its checks capabilities, runAsNonRoot, restrictedVolumes)."""


CUSTOM = {"LeaderWorkerSet", "PodGroup", "ModelServer", "ModelRoute"}


def space(level: str) -> str:
    return f"security-{level}"


@pytest.fixture(scope="module")
def ready(kube: Kube) -> Iterator[Kube]:
    """A namespace per level, and the service account that pods of every namespace have."""
    for level in LEVELS:
        labels = {"pod-security.kubernetes.io/enforce": level, "pod-security.kubernetes.io/enforce-version": "latest"}
        metadata = {"name": space(level), "labels": labels}
        kube.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}, manager=MANAGER)
        account = {"name": "default", "namespace": space(level)}
        kube.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account}, manager=MANAGER)
    for body in classes():
        kube.apply(body, manager=MANAGER)
        eventually(partial(is_known, kube, body["metadata"]["name"]), "a priority class that admission knows")
    yield kube
    for level in LEVELS:
        kube.delete("v1", "Namespace", space(level))
    for body in classes():
        kube.delete(body["apiVersion"], body["kind"], body["metadata"]["name"])


def is_known(kube: Kube, priority_class: str) -> bool:
    """Whether pods may have a priority class: admission hears of it a moment after it is stored."""
    spec = {"containers": [{"name": "c", "image": "example.com/c:1"}], "priorityClassName": priority_class}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "probe", "namespace": space("privileged")}}
    try:
        kube.create({**pod, "spec": spec}, dry_run=True)
    except KubeError as error:
        if "no PriorityClass" not in error.message:
            raise
        return False
    return True


def classes() -> list[Object]:
    """The priority classes of hardening, and those that InferenceServices share."""
    made = [body for item in shipped().rendered for body in item.objects if body["kind"] == "PriorityClass"]
    return [*priority_classes(), *made]


def shipped(level: str = "restricted", **options: Any) -> Fleet:
    fleet = render_fleet(load([ROOT / "stacks" / "models"]).resources, Options(namespace=space(level), **options))
    assert not [p for p in fleet.problems if p.severity == "error"]
    return fleet


def models() -> list[Rendered]:
    found = [item for item in shipped().rendered if item.workloads]
    assert len(found) == len(list((ROOT / "stacks" / "models").glob("*.yaml")))
    return found


def pods(item: Rendered, namespace: str) -> list[Object]:
    """A pod of each template, as a controller would make it."""
    templates = [copy.deepcopy(t) for workload in item.workloads for t in workload.templates]
    return [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {**t.get("metadata", {}), "name": f"{item.name}-{n}", "namespace": namespace},
            "spec": t["spec"],
        }
        for n, t in enumerate(templates)
    ]


def refusals(kube: Kube, candidates: list[Object]) -> list[str]:
    """What the API server says against pods; validation is strict and server-side, nothing is stored."""
    said = []
    for pod in candidates:
        try:
            kube.apply(pod, manager=MANAGER, dry_run=True)
        except KubeError as error:
            if error.status != 403:
                raise
            said.append(str(error))
    return said


@pytest.mark.parametrize("item", models(), ids=lambda item: item.name)
def test_a_shipped_model_meets_restricted_or_is_refused_for_what_is_listed(ready: Kube, item: Rendered) -> None:
    hardened = harden(item, ALL)
    listed = {exemption.rule for exemption in restricted_exemptions(hardened)}
    assert listed == EXEMPT.get(item.name, set())
    said = refusals(ready, pods(hardened, space("restricted")))
    assert bool(said) is bool(listed)
    for text in said:
        assert "violates PodSecurity" in text
        for rule, fragments in SAID.items():
            assert all((fragment in text) is (rule in listed) for fragment in fragments), text
        # LLMKube's containers have no capabilities, whoever they run as (LLMKube spec 4.6).
        assert ("unrestricted capabilities" in text) is ("root" in listed and item.kind != "InferenceService")
        # Nothing else is wrong with it.
        assert not [
            w for w in ("seccompProfile", "allowPrivilegeEscalation", "privileged", "runAsUser=0") if w in text
        ]


@pytest.mark.parametrize("item", models(), ids=lambda item: item.name)
def test_a_refusal_names_the_container_that_is_listed(ready: Kube, item: Rendered) -> None:
    hardened = harden(item, ALL)
    text = " ".join(refusals(ready, pods(hardened, space("restricted"))))
    for exemption in restricted_exemptions(hardened):
        assert f'"{exemption.part}"' in text


def test_as_rendered_no_model_meets_restricted(ready: Kube) -> None:
    """What hardening is for; it also shows that the profile is enforced here."""
    for item in models():
        assert refusals(ready, pods(item, space("restricted"))), item.name


@pytest.mark.parametrize("level", [PodSecurity.RESTRICTED, PodSecurity.BASELINE])
def test_baseline_forbids_only_folders_of_the_node(ready: Kube, level: PodSecurity) -> None:
    for item in models():
        said = refusals(ready, pods(harden(item, Hardening(level)), space("baseline")))
        assert bool(said) is ("hostPath" in EXEMPT.get(item.name, set())), (item.name, said)
        assert all("hostPath volumes" in text for text in said)


@pytest.mark.parametrize("options", [{}, {"runtimes": Edition.CURRENT}, {"workload": WorkloadChoice.LWS}])
def test_every_hardened_pod_is_valid(ready: Kube, options: dict[str, Any]) -> None:
    """Where nothing is forbidden, what is left to refuse is a field that contradicts another."""
    for item in shipped(**options).rendered:
        assert refusals(ready, pods(harden(item, ALL), space("privileged"))) == []


def test_in_the_current_edition_only_the_images_without_root_meet_restricted(ready: Kube) -> None:
    """TGI 3.3.6 needs root again."""
    passed = set()
    for item in shipped(runtimes=Edition.CURRENT).rendered:
        hardened = harden(item, ALL)
        said = refusals(ready, pods(hardened, space("restricted")))
        assert bool(said) is bool(restricted_exemptions(hardened)), (item.name, said)
        passed |= {item.name} if item.workloads and not said else set()
    assert passed == {"llama-70b-split", "qwen-cpu", "qwen-moe-offload", "tiny-ollama", "tinyllama-cpu"}


def test_workloads_budgets_and_services_are_accepted(ready: Kube) -> None:
    accepted = set()
    for item in models():
        for body in harden(item, ALL).objects:
            if body["kind"] in CUSTOM:
                continue  # not defined here; the pods of these are judged above
            ready.apply(body, manager=MANAGER, dry_run=True)
            accepted.add(body["kind"])
    assert accepted == {"Deployment", "Service", "HorizontalPodAutoscaler", "PodDisruptionBudget"}


def test_a_deployment_is_accepted_whose_pods_are_refused(ready: Kube) -> None:
    """Pod Security refuses pods, never workloads: without a look at pods an exemption would go unnoticed."""
    (item,) = (item for item in models() if item.name == "qwen-chat")
    for body in item.objects:
        ready.apply(body, manager=MANAGER, dry_run=True)


@pytest.mark.parametrize(
    "allowed",
    [
        Allowed(),
        Allowed(
            gateway_namespace="envoy-gateway-system", clients=({"team": "a"},), cidrs=("10.0.0.0/16", "fd00::/64")
        ),
        Allowed(monitoring_namespace=None, clients=(), restrict_egress=True),
    ],
)
def test_network_policies_are_accepted(ready: Kube, allowed: Allowed) -> None:
    made = network_policies(shipped(), allowed)
    names = {body["metadata"]["name"] for body in made}
    assert len(names) == len(made)
    fronts = {several[0].pod_set.name for item in models() for several in by_set(item.workloads).values()}
    assert {name for name in names if "." not in name} == fronts
    within = {name.removesuffix(".group") for name in names if "." in name}
    assert {"llama-405b", "qwen2-5-72b-two-nodes", "qwen3-pd-router"} <= within < fronts
    for body in made:
        stored = ready.apply(body, manager=MANAGER, dry_run=True)
        assert stored["spec"].get("egress") == body["spec"].get("egress")
        assert stored["spec"].get("ingress", []) == body["spec"]["ingress"]
        assert stored["spec"]["policyTypes"] == body["spec"]["policyTypes"]


def test_priority_classes_are_accepted_and_resolved(ready: Kube) -> None:
    values = {body["metadata"]["name"]: body["value"] for body in priority_classes()}
    (item,) = (item for item in models() if item.name == "tiny-ollama")
    for name in Priority:
        (pod,) = pods(harden(item, Hardening(PodSecurity.RESTRICTED, priority=name)), space("restricted"))
        stored = ready.apply(pod, manager=MANAGER, dry_run=True)
        assert stored["spec"]["priority"] == (0 if name is Priority.NONE else values[f"inference-{name}"])


@pytest.mark.parametrize("keep_addresses", [False, True])
def test_load_balancers_are_accepted(ready: Kube, *, keep_addresses: bool) -> None:
    clients = ("10.0.0.0/8", "198.51.100.7/32")
    balancing = Balancing(clients, keep_addresses=keep_addresses)
    fleet = shipped()
    # What only a gateway or a router does is an error for load balancers.
    alone = tuple(item for item in fleet.rendered if item.name not in ("llama-pd", "qwen2-5-7b"))
    door = Door(Exposure.LOAD_BALANCER, internal=True)
    plan = front_door(replace(fleet, rendered=alone), door, balancing=balancing)
    assert not [problem for problem in plan.problems if problem.is_error]
    assert len(plan.objects) == len(models()) - 2
    for body in plan.objects:
        spec = ready.apply(body, manager=MANAGER, dry_run=True)["spec"]
        assert (spec["type"], tuple(spec["loadBalancerSourceRanges"])) == ("LoadBalancer", clients)
        assert spec["externalTrafficPolicy"] == ("Local" if keep_addresses else "Cluster")


def selected(made: Iterable[Object], selector: Object) -> set[str]:
    """The pods among those of some objects that a selector selects, as their controllers make them."""
    found = set()
    for body in made:
        if body["kind"] == "LeaderWorkerSet":
            every = list(pods_of(body))
        elif body["kind"] == "Deployment":
            every = [body["spec"]["template"] | {"kind": "Pod"}]
            every[0]["metadata"] = {**every[0]["metadata"], "name": body["metadata"]["name"]}
        else:
            continue
        found |= {p["metadata"]["name"] for p in every if selector.items() <= p["metadata"]["labels"].items()}
    return found


def test_budgets_select_the_pods_of_their_workload(ready: Kube) -> None:
    """Of a LeaderWorkerSet it is the leader, whose labels its controller sets: the pods of one of its Services."""
    seen = set()
    for options in ({}, {"workload": WorkloadChoice.LWS}):
        for item in shipped(**options).rendered:
            made = harden(item, ALL).objects
            for budget in (body for body in made if body["kind"] == "PodDisruptionBudget"):
                wanted = selected(made, budget["spec"]["selector"]["matchLabels"])
                services = [body["spec"]["selector"] for body in made if body["kind"] == "Service"]
                assert wanted
                assert wanted in [selected(made, selector) for selector in services]
                seen.add(made[0]["kind"])
    assert seen == {"Deployment", "LeaderWorkerSet"}
