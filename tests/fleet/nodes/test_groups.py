"""Node groups are called by what is needed alone: nobody's edit replaces the nodes of somebody else."""

import re
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.fleet.demand import NodeChoice, PodDemand
from components.fleet.nodes.groups import NodeGroupDemand, groups_of
from components.fleet.nodes.policy import Capacity, NodePolicy, TypePolicy

TYPE = "node.kubernetes.io/instance-type"
ZONE = "topology.kubernetes.io/zone"
SPOT = {"karpenter.sh/capacity-type": "spot"}
POLICY = NodePolicy(types={"g6.xlarge": TypePolicy(capacity=Capacity.SPOT)}, labels={"tenant": "a"})


def pods(*choices: NodeChoice, count: int = 1) -> PodDemand:
    return PodDemand(count, {"nvidia.com/gpu": Decimal(1)}, choices)


def choice(instance_type: str = "g5.xlarge", **labels: str) -> NodeChoice:
    return NodeChoice("f", instance_type, labels)


def named(*demands: PodDemand, policy: NodePolicy = POLICY) -> dict[str, NodeGroupDemand]:
    groups = groups_of(demands, policy)
    found = {group.name: group for group in groups}
    assert len(found) == len(groups)
    return found


LABELS = st.sampled_from(
    [
        {},
        {"pool": "a"},
        {"pool": "b"},
        {"tier": "a"},
        {"pool": "a", "team": "x"},
        {"pool": "A_1.x"},
        {"pool": "x" * 63},
        {"tenant": "a"},
        {"tenant": "b"},
        {ZONE: "us-east-1b"},
        {"kubernetes.io/arch": "amd64"},
        SPOT,
        {"eks.amazonaws.com/capacityType": "SPOT"},
    ]
)
CHOICES = st.builds(NodeChoice, st.just("f"), st.sampled_from(["g5.xlarge", "g6.xlarge", "p5.48xlarge"]), LABELS)
MODELS = st.builds(
    PodDemand,
    st.integers(0, 3),
    st.just({"nvidia.com/gpu": Decimal(1)}),
    st.lists(CHOICES, min_size=1, max_size=3).map(tuple),
)
EDITS = st.lists(st.tuples(st.sampled_from("abcd"), st.none() | MODELS), min_size=1, max_size=12)
"""A model is added or changed, or removed."""


@given(EDITS)
def test_an_edit_of_one_model_renames_no_group_of_another(edits: list[tuple[str, PodDemand | None]]) -> None:
    models: dict[str, PodDemand] = {}
    for name, model in edits:
        before = {other: set(named(models[other])) for other in models if other != name}
        models.pop(name, None)
        if model is not None:
            models[name] = model
        after = named(*models.values())
        assert set(after) == set().union(*(named(model) for model in models.values()))
        for other, groups in before.items():
            assert groups <= set(after), other


@given(st.lists(MODELS, min_size=1, max_size=5))
def test_nor_changes_the_labels_of_its_nodes_but_for_other_words_for_capacity(
    models: list[PodDemand],
) -> None:
    together = named(*models)
    for model in models:
        for name, group in named(model).items():
            differing = group.labels.items() ^ together[name].labels.items()
            assert {key for key, _ in differing} <= {"karpenter.sh/capacity-type", "eks.amazonaws.com/capacityType"}


@given(st.lists(MODELS, min_size=1, max_size=5))
def test_order_does_not_matter(models: list[PodDemand]) -> None:
    assert groups_of(models, POLICY) == groups_of(models[::-1], POLICY)


@pytest.mark.parametrize(
    ("wanted", "policy", "name"),
    [
        (choice(), NodePolicy(), "g5-xlarge"),
        (choice(), NodePolicy(capacity=Capacity.SPOT), "g5-xlarge-spot"),
        (choice(**SPOT), NodePolicy(), "g5-xlarge-spot"),
        (choice(**{ZONE: "us-east-1b"}), NodePolicy(), "g5-xlarge-us-east-1b"),
        (choice(**SPOT, **{ZONE: "us-east-1b"}), NodePolicy(), "g5-xlarge-spot-us-east-1b"),
        (choice(tenant="a"), POLICY, "g5-xlarge"),
        (choice("p5.48xlarge"), NodePolicy(capacity=Capacity.SPOT, labels={"tenant": "a"}), "p5-48xlarge-spot"),
    ],
)
def test_names_say_type_capacity_and_zone(wanted: NodeChoice, policy: NodePolicy, name: str) -> None:
    assert list(named(pods(wanted), policy=policy)) == [name]


def test_further_labels_are_told_apart_by_a_digest() -> None:
    """Of keys and values, as names keep neither: pool a and tier a, or a_b and a.b, would be one otherwise."""
    labels = [{"pool": "a"}, {"tier": "a"}, {"pool": "a_b"}, {"pool": "a.b"}, {"pool": "a", "tier": "b"}]
    names = [name for each in labels for name in named(pods(choice(**each)))]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"g5-xlarge-a(-b)?-[0-9a-f]{6}", name) for name in names)


def test_names_are_short_enough() -> None:
    (name,) = named(pods(choice("p6-b200.48xlarge", pool="x" * 63, **{ZONE: "us-east-1-atl-2a"})))
    assert len(name) <= 48


def test_the_words_of_eks_and_karpenter_for_capacity_mean_one_group() -> None:
    one, other = choice(**SPOT), choice(**{"eks.amazonaws.com/capacityType": "SPOT"})
    (group,) = named(pods(one), pods(other)).values()
    assert (group.capacity, group.nodes) == ("spot", 2)


def test_pods_without_a_selector_may_come_to_nodes_that_have_labels() -> None:
    """They have a group of their own for all that; both are large enough for whoever may come."""
    plain, labelled = named(pods(choice(), count=2), pods(choice(pool="a"))).values()
    assert (plain.nodes, plain.max_nodes) == (2, 2)
    assert (labelled.nodes, labelled.max_nodes) == (1, 3)


def test_a_group_keeps_its_name_when_its_pods_change() -> None:
    few = pods(choice(pool="a"))
    many = replace(few, pods=7, requests={"nvidia.com/gpu": Decimal(1), "vpc.amazonaws.com/efa": Decimal(1)})
    assert list(named(few)) == list(named(many))


@pytest.mark.parametrize(("efa", "nodes"), [(False, 1), (True, 2)])
def test_nodes_with_efa_have_less_memory_for_pods(efa: bool, nodes: int) -> None:
    """Four pods of 41 GiB fill a g5.12xlarge with its 169.3 GiB, of which EFA takes 10.3."""
    requests = {"nvidia.com/gpu": Decimal(1), "memory": Decimal(41 * 2**30)}
    demand = PodDemand(4, requests, (choice("g5.12xlarge"),))
    policy = NodePolicy(types={"g5.12xlarge": TypePolicy(efa=efa)})
    (group,) = groups_of([demand], policy)
    assert group.nodes == nodes
