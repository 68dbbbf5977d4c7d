"""Random edits of zones: AWS refuses nothing, and a group of nodes is replaced only if its own zones were edited.

INFERENCE_PLATFORM_SEQUENCES says how many sequences there are.
"""

import functools
import json
import os
from dataclasses import replace
from typing import Any

import pulumi
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from tests.clouds.aws.sizes.account import RefusedError
from tests.clouds.aws.sizes.zones import NumberedSubnets, ProtectedError, Zones
from tests.recorded import Recorded
from tests.stacks.shipped import run

EXAMPLES = int(os.environ.get("INFERENCE_PLATFORM_SEQUENCES", "5"))
ZONES = [f"us-east-1{letter}" for letter in "abcdef"]
A, B, C, D, *_ = ZONES
GROUPS = {
    "nodes-g5-2xlarge": "g5.2xlarge",
    "nodes-m7i-2xlarge": "m7i.2xlarge",
}
"""Groups of the models, with their types."""
FIRST: dict[str, Any] = {
    "models": ["stacks/models/qwen-chat.yaml", "stacks/models/qwen-cpu.yaml"],
    "network": {"zones": [A, B], "natGateways": "one"},
    "cluster": {"version": "1.35", "publicAccessCidrs": ["203.0.113.0/24"], "zones": [A, B]},
    "gpuNodes": {"types": {}},
    "prerequisites": {},
    "hardening": {},
}
Edit = tuple[str, Any]

pytestmark = pytest.mark.usefixtures("here")


@functools.lru_cache(maxsize=500)
def _program(text: str) -> Recorded | str:
    try:
        return run("dev", NumberedSubnets(), **json.loads(text))
    except pulumi.RunError as error:
        return str(error)


def program(values: dict[str, Any]) -> Recorded | str:
    """Run the program of some settings; return what it says where it refuses them."""
    return _program(json.dumps(values, sort_keys=True))


def graph_of(values: dict[str, Any]) -> Recorded:
    graph = program(values)
    assert isinstance(graph, Recorded), graph
    return graph


def edited(values: dict[str, Any], edit: Edit) -> dict[str, Any]:
    """Return settings with one edit more; a value that is None is taken away."""
    path, value = edit
    changed: dict[str, Any] = json.loads(json.dumps(values))
    place = changed
    *sections, key = path.split("/")
    for section in sections:
        place = place.setdefault(section, {})
    if value is None:
        place.pop(key, None)
    else:
        place[key] = value
    return changed


def zones_of_groups(values: dict[str, Any]) -> dict[str, list[str]]:
    """Where the documentation says that nodes are."""
    nodes, cluster = values["gpuNodes"], values["cluster"]
    usual = nodes.get("zones") or cluster.get("zones") or values["network"]["zones"]
    found = {group: nodes["types"].get(type_, {}).get("zones") or usual for group, type_ in GROUPS.items()}
    system = cluster.get("systemZones") or cluster.get("zones") or values["network"]["zones"]
    return {"cluster-system": system, **found}


def is_refused(values: dict[str, Any]) -> bool:
    """Whether the documentation says that settings are refused: a zone is named that is not there."""
    nodes, cluster, zones = values["gpuNodes"], values["cluster"], set(values["network"]["zones"])
    named = [cluster.get("zones"), cluster.get("systemZones"), nodes.get("zones")]
    named += [rule.get("zones") for rule in nodes["types"].values()]
    return len(zones) < 2 or any(not zones.issuperset(each or ()) for each in named)


some_zones = st.lists(st.sampled_from(ZONES), min_size=1, max_size=4, unique=True)
EDITS: st.SearchStrategy[Edit] = st.one_of(
    *[st.tuples(st.just("network/zones"), st.permutations(ZONES).flatmap(lambda all_: st.sampled_from([
        all_[:count] for count in range(2, 7)
    ])))] * 4,
    st.tuples(st.just("gpuNodes/zones"), st.none() | some_zones),
    st.tuples(st.sampled_from([f"gpuNodes/types/{name}/zones" for name in GROUPS.values()]), st.none() | some_zones),
    st.tuples(st.just("cluster/systemZones"), st.none() | some_zones),
    st.tuples(st.just("network/natGateways"), st.sampled_from(["one", "per-zone"])),
    st.tuples(st.just("network/interfaceEndpoints"), st.sampled_from([[], ["sts"], ["sts", "ec2"]])),
    st.tuples(st.just("modelCache"), st.sampled_from([{}, {"efs": {}}])),
)  # fmt: skip


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.permutations(ZONES).map(lambda zones: zones[:3]),
    st.booleans(),
    st.sampled_from([{}, {"podCidr": "100.64.0.0/16"}, {"ipv6": True}]),
    st.lists(EDITS, min_size=3, max_size=10),
)
def test_whatever_is_edited(first: list[str], protect: bool, more: dict[str, Any], edits: list[Edit]) -> None:
    values = edited(FIRST, ("network", {"zones": first, "natGateways": "one", **more}))
    values = edited(edited(values, ("cluster/zones", first)), ("protect", protect))
    zones = Zones()
    zones.update(graph_of(values))
    for edit in edits:
        changed = edited(values, edit)
        graph = program(changed)
        if is_refused(changed):
            assert isinstance(graph, str), f"{edit} is taken"
            event("refused")
            continue
        assert isinstance(graph, Recorded), graph
        event("taken")
        before, after = zones_of_groups(values), zones_of_groups(changed)
        zones.update(graph)
        assert zones.replaced == {group for group, wanted in after.items() if before[group] != wanted}, edit
        assert zones.lost == set()
        values = changed


@pytest.mark.parametrize("protect", [True, False])
@pytest.mark.parametrize(
    "edits",
    [
        [("network/zones", [A, B, C])],
        [("network/zones", [C, B, A]), ("network/zones", [B, A])],
        [("network/zones", [A, B, C, D]), ("network/zones", [D, B, A])],
        [("network/zones", [A, B, C]), ("gpuNodes/types/g5.2xlarge/zones", [C]), ("network/natGateways", "per-zone")],
        [("network/zones", [A, B, C]), ("gpuNodes/zones", [C]), ("gpuNodes/zones", None), ("network/zones", [A, B])],
    ],
    ids=str,
)
def test_what_used_to_break(edits: list[Edit], protect: bool) -> None:
    zones, values = Zones(), edited(FIRST, ("protect", protect))
    zones.update(graph_of(values))
    for edit in edits:
        values = edited(values, edit)
        zones.update(graph_of(values))
    assert zones.lost == set()


def test_nodes_leave_a_zone_in_the_update_that_removes_it() -> None:
    """Their group is made elsewhere before the old one goes, and the subnet goes after that."""
    zones = Zones()
    values = edited(FIRST, ("network/zones", [A, B, C]))
    values = edited(values, ("gpuNodes/types/g5.2xlarge/zones", [C]))
    zones.update(graph_of(values))
    values = edited(edited(values, ("network/zones", [A, B])), ("gpuNodes/types/g5.2xlarge/zones", [A]))
    zones.update(graph_of(values))
    assert (zones.replaced, zones.lost) == ({"nodes-g5-2xlarge"}, set())


class TestWithoutTheZonesOfTheControlPlane:
    """Stacks that do not name them: what the program cannot know is refused by Pulumi or AWS."""

    def stack(self, *zones: str, protect: bool = False) -> dict[str, Any]:
        return edited(
            edited(edited(FIRST, ("cluster/zones", None)), ("network/zones", [*zones])), ("protect", protect)
        )

    def test_a_zone_is_appended(self) -> None:
        """The control plane stays; nodes are in all zones, so that their groups are replaced, none lost."""
        zones = Zones()
        zones.update(graph_of(self.stack(A, B)))
        zones.update(graph_of(self.stack(A, B, C)))
        assert zones.replaced == {"cluster-system", *GROUPS}
        assert zones.lost == set()

    def test_naming_them_later_changes_nothing(self) -> None:
        zones = Zones()
        zones.update(graph_of(self.stack(A, B)))
        zones.update(graph_of(edited(self.stack(A, B), ("cluster/zones", [A, B]))))
        zones.update(graph_of(edited(self.stack(D, B, A, C), ("cluster/zones", [A, B]))))
        assert zones.replaced == set()

    def test_a_zone_is_removed(self) -> None:
        zones = Zones()
        zones.update(graph_of(self.stack(A, B, C)))
        with pytest.raises(RefusedError, match=r"DependencyViolation.*Cluster::cluster"):
            zones.update(graph_of(self.stack(A, B)))

    @pytest.mark.parametrize("after", [(A, B), (A, C, B), (C, A, B)])
    def test_pulumi_refuses_before_it_does_anything_where_the_environment_is_protected(
        self, after: tuple[str, ...]
    ) -> None:
        zones = Zones()
        zones.update(graph_of(self.stack(A, B, C, protect=True)))
        with pytest.raises(ProtectedError, match=f"network-private-{C}"):
            zones.update(graph_of(self.stack(*after, protect=True)))

    def test_places_are_swapped(self) -> None:
        zones = Zones()
        zones.update(graph_of(self.stack(A, B)))
        with pytest.raises(RefusedError, match=r"InvalidSubnet.Conflict"):
            zones.update(graph_of(self.stack(B, A)))


class TestTheStandIn:
    """It says no where EKS and EC2 do: else nothing is shown."""

    def test_subnets_of_other_zones(self) -> None:
        """The same program without the option that keeps the control plane's subnets."""
        zones = Zones()
        zones.update(_taking(graph_of(FIRST)))
        more = edited(edited(FIRST, ("network/zones", [A, B, C])), ("cluster/zones", [A, B, C]))
        expected = f"belong to the AZs '{A},{B},{C}'. But they should belong to the exact set of AZs '{A},{B}'"
        with pytest.raises(RefusedError, match=expected):
            zones.update(_taking(graph_of(more)))

    def test_fewer_zones(self) -> None:
        zones, three = Zones(), edited(edited(FIRST, ("network/zones", [A, B, C])), ("cluster/zones", [A, B, C]))
        zones.update(_taking(graph_of(three)))
        with pytest.raises(RefusedError, match=f"the exact set of AZs '{A},{B},{C}'"):
            zones.update(_taking(graph_of(edited(three, ("cluster/zones", [A, B])))))

    def test_a_subnet_with_nodes_in_it(self) -> None:
        """Nodes that a program forgets to move."""
        zones = Zones()
        values = edited(edited(FIRST, ("network/zones", [A, B, C])), ("gpuNodes/types/g5.2xlarge/zones", [C]))
        graph = graph_of(values)
        zones.update(graph)
        gone = {f"aws:ec2/subnet:Subnet::network-private-{C}"}
        left = tuple(entry for entry in graph.graph if entry.key not in gone)
        with pytest.raises(RefusedError, match=r"DependencyViolation.*nodes-g5-2xlarge"):
            zones.update(Recorded(left, {}))

    def test_a_group_that_goes_first_is_lost(self) -> None:
        zones = Zones()
        graph = graph_of(FIRST)
        zones.update(graph)
        zones.update(Recorded(tuple(each for each in graph.graph if each.name not in GROUPS), {}))
        assert zones.lost == set(GROUPS)


def _taking(graph: Recorded) -> Recorded:
    """Return a graph of which every change is sent."""
    entries = [replace(e, registration=replace(e.registration, ignore_changes=())) for e in graph.graph]
    return Recorded(tuple(entries), graph.exports)
