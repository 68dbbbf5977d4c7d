"""What holds for any flavors and any models: pods find their nodes, and the autoscaler is told the truth."""

import random
from decimal import Decimal
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from components.clouds.aws.facts.eks import limits
from components.clouds.aws.nodes.checks import check_nodes
from components.clouds.aws.nodes.plan import NodeEnvironment, NodeGroupPlan, node_plan
from components.fleet.instances import instance
from components.fleet.nodes.fit import fit
from components.fleet.nodes.groups import offered_by
from components.fleet.nodes.policy import Capacity, TypePolicy
from components.fleet.options import PodOverrides
from components.fleet.rendered import Fleet
from tests.clouds.aws.environments import BLOCK, HELD, environment
from tests.fleets import errors, fleet_of, open_model, playground
from tests.tries import tries

GPUS = {"g5.xlarge": 1, "g5.12xlarge": 4, "g6.12xlarge": 4, "g6.48xlarge": 8, "p5.48xlarge": 8, "inf2.48xlarge": 12}
RESOURCE = {"inf2.48xlarge": "aws.amazon.com/neuron"}
SELECTORS: list[dict[str, str]] = [
    {},
    {},
    {"pool": "a"},
    {"pool": "b", "team": "x"},
    {"team": "other"},
    {"karpenter.sh/capacity-type": "spot"},
    {"topology.kubernetes.io/zone": "us-east-1b"},
    {"kubernetes.io/arch": "amd64"},
]
TEMPLATE = "k8s.io/cluster-autoscaler/node-template/"


@st.composite
def models(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Models with one to three flavors of equal accelerators, each served by a Playground, scaled or not."""
    documents: list[dict[str, Any]] = []
    for index in range(draw(st.integers(1, 5))):
        resource = draw(st.sampled_from(["nvidia.com/gpu", "nvidia.com/gpu", "aws.amazon.com/neuron"]))
        kinds = [name for name in GPUS if RESOURCE.get(name, "nvidia.com/gpu") == resource]
        chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=3, unique=True))
        most = min(GPUS[kind] for kind in chosen)
        count = draw(st.integers(1, most))
        flavors = [
            {
                "name": f"f{number}",
                "limits": {resource: count},
                "params": {"INSTANCE-TYPE": kind},
                "nodeSelector": draw(st.sampled_from(SELECTORS)),
            }
            for number, kind in enumerate(chosen)
        ]
        documents += [open_model(f"m{index}", flavors=flavors), draw(served(index))]
    return documents


@st.composite
def served(draw: st.DrawFn, index: int) -> dict[str, Any]:
    need = {"cpu": draw(st.sampled_from(["500m", "1", "2"])), "memory": draw(st.sampled_from(["1Gi", "6Gi"]))}
    spec: dict[str, Any] = {"backendRuntimeConfig": {"resources": {"requests": need, "limits": need}}}
    least = draw(st.integers(1, 3))
    if draw(st.booleans()):
        bounds = {"minReplicas": least, "maxReplicas": least + draw(st.integers(1, 4))}
        spec["elasticConfig"] = {**bounds, "scaleTrigger": {"hpa": {}}}
    else:
        spec["replicas"] = least
    return playground(f"p{index}", f"m{index}", **spec)


LATENCY = {"key": "latency", "value": "low", "effect": "NoExecute"}
TEAM = {"key": "example.com/team", "value": "", "effect": "NoSchedule"}
RULES = [
    {},
    {"g5.12xlarge": TypePolicy(labels={"pool": "a", "rack": "1"}, taints=(LATENCY,))},
    {"g5.xlarge": TypePolicy(alternatives=("g5.2xlarge", "g5.4xlarge"))},
    {"p5.48xlarge": TypePolicy(capacity=Capacity.ODCR, reservation=HELD, efa=True)},
    {"p5.48xlarge": TypePolicy(capacity=Capacity.CAPACITY_BLOCK, reservation=BLOCK)},
]


@st.composite
def cases(draw: st.DrawFn) -> tuple[Fleet, NodeEnvironment, tuple[NodeGroupPlan, ...]]:
    where = environment(
        capacity=draw(st.sampled_from(["on-demand", "spot"])),
        types=draw(st.sampled_from(RULES)),
        provisioner=draw(st.sampled_from(["managed", "karpenter"])),
        scale_to_zero=draw(st.booleans()),
        further=draw(st.sampled_from([{}, {"team": "x"}, {"stage": "test"}])),
        taints=draw(st.sampled_from([(), (TEAM,)])),
    )
    overrides = PodOverrides(tolerations=where.nodes.tolerations)
    fleet = fleet_of(*draw(models()), alternatives=where.nodes.alternatives, overrides=overrides)
    assert not errors(fleet), errors(fleet)
    assert fit(fleet) == ()
    return fleet, where, node_plan(fleet, where)


def pods(fleet: Fleet) -> list[tuple[dict[str, Any], dict[str, Decimal]]]:
    """Each kind of pod as it is rendered, and what it asks for."""
    found = []
    for item in fleet.rendered:
        (workload,) = (o for o in item.objects if o["kind"] == "Deployment")
        (demand,) = item.pods
        found.append((workload["spec"]["template"]["spec"], {**demand.requests, "pods": Decimal(1)}))
    return found


def matches(spec: dict[str, Any], labels: dict[str, str]) -> bool:
    """Required node affinity, evaluated as the scheduler does."""
    required = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    return any(
        all(labels.get(each["key"]) in each["values"] for each in term["matchExpressions"])
        for term in required["nodeSelectorTerms"]
    )


def tolerates(spec: dict[str, Any], group: NodeGroupPlan) -> bool:
    """Tolerations, evaluated as the scheduler does."""
    return all(
        any(
            t.get("key") == taint["key"]
            and (t["operator"] == "Exists" or t["value"] == taint["value"])
            and t["effect"] == taint["effect"]
            for t in spec.get("tolerations", [])
        )
        for taint in group.demand.taints
    )


def on_node(group: NodeGroupPlan, instance_type: str, zone: str) -> dict[str, str]:
    """The labels of a node as EC2, kubelet and the group put them there."""
    facts = instance(instance_type)
    assert facts is not None
    capacity = {"SPOT": "spot"}.get(group.capacity_type, "reserved" if group.reserved else "on-demand")
    return {
        "node.kubernetes.io/instance-type": instance_type,
        "kubernetes.io/arch": facts.arch,
        "topology.kubernetes.io/zone": zone,
        "karpenter.sh/capacity-type": capacity,
        **group.labels,
    }


def fits(group: NodeGroupPlan, instance_type: str, wanted: dict[str, Decimal]) -> bool:
    offered = offered_by(instance_type, efa=bool(group.interfaces))
    return all(offered.get(key, Decimal(0)) >= amount for key, amount in wanted.items())


@settings(max_examples=tries(150), deadline=None)
@given(cases())
def test_each_pod_finds_a_node_of_its_groups_and_no_group_is_without_pods(
    case: tuple[Fleet, NodeEnvironment, tuple[NodeGroupPlan, ...]],
) -> None:
    fleet, _, groups = case
    used = set()
    for spec, wanted in pods(fleet):
        mine = {
            group.name
            for group in groups
            for kind in group.instance_types
            for zone in group.zones
            if tolerates(spec, group) and matches(spec, on_node(group, kind, zone)) and fits(group, kind, wanted)
        }
        assert mine
        used |= mine
    assert used == {group.name for group in groups}


@settings(max_examples=tries(150), deadline=None)
@given(cases(), st.integers(0, 2**32))
def test_the_bounds_carry_the_largest_state_wherever_the_scheduler_puts_pods(
    case: tuple[Fleet, NodeEnvironment, tuple[NodeGroupPlan, ...]], seed: int
) -> None:
    """All pods at their most, in any order, on any node with room. Reservations are as large as they were bought."""
    fleet, _, groups = case
    chance = random.Random(seed)
    nodes = [
        (group, dict(offered_by(group.node.name, efa=bool(group.interfaces))))
        for group in groups
        for _ in range(group.demand.max_nodes)
    ]
    queue = [
        (spec, wanted)
        for (spec, wanted), item in zip(pods(fleet), fleet.rendered, strict=True)
        for _ in range(item.pods[0].most)
    ]
    chance.shuffle(queue)
    for spec, wanted in queue:
        room = [
            free
            for group, free in nodes
            if matches(spec, on_node(group, group.node.name, group.zones[0]))
            and tolerates(spec, group)
            and all(free.get(key, Decimal(0)) >= amount for key, amount in wanted.items())
        ]
        assert room
        taken = chance.choice(room)
        for key, amount in wanted.items():
            taken[key] -= amount


@settings(max_examples=tries(100), deadline=None)
@given(cases())
def test_what_the_autoscaler_is_told_agrees_with_the_nodes(
    case: tuple[Fleet, NodeEnvironment, tuple[NodeGroupPlan, ...]],
) -> None:
    _, _, groups = case
    for group in groups:
        told = {key.removeprefix(TEMPLATE): value for key, value in group.tags.items()}
        labels = {k.removeprefix("label/"): v for k, v in told.items() if k.startswith("label/")}
        taints = {k.removeprefix("taint/"): v for k, v in told.items() if k.startswith("taint/")}
        resources = {k.removeprefix("resources/"): v for k, v in told.items() if k.startswith("resources/")}
        assert len(labels) + len(taints) + len(resources) == len(told)
        actual = on_node(group, group.node.name, group.zones[0])
        assert labels == {key: actual[key] for key in labels}
        assert set(group.labels) <= set(labels)
        assert taints == {t["key"]: f"{t['value']}:{t['effect']}" for t in group.demand.taints}
        offered = offered_by(group.node.name, efa=bool(group.interfaces))
        assert resources == {key: str(amount) for key, amount in offered.items() if "/" in key}


@settings(max_examples=tries(100), deadline=None)
@given(cases())
def test_groups_are_what_eks_takes(case: tuple[Fleet, NodeEnvironment, tuple[NodeGroupPlan, ...]]) -> None:
    fleet, where, groups = case
    assert [p for p in check_nodes(fleet, groups, where) if p.severity == "error" and "Pending" not in p.reason] == []
    assert len({group.id for group in groups}) == len(groups)
    for group in groups:
        assert len(group.id) <= limits().name
        assert 0 <= group.minimum <= group.maximum <= limits().nodes_per_group
        if group.bounds:
            assert group.minimum == group.bounds.minimum <= group.bounds.maximum <= limits().nodes_per_group
        assert group.maximum >= 1
        assert not any(key.partition("/")[0].endswith(("kubernetes.io", "k8s.io")) for key in group.labels)
        if group.reservation:
            assert group.maximum <= group.reservation.count
            assert group.zones == (group.reservation.zone,)


@settings(max_examples=50, deadline=None)
@given(cases())
def test_the_same_demand_gives_the_same_plan(case: tuple[Fleet, NodeEnvironment, tuple[NodeGroupPlan, ...]]) -> None:
    fleet, where, groups = case
    again = Fleet(tuple(reversed(fleet.rendered)), fleet.problems)
    assert node_plan(again, where) == groups
