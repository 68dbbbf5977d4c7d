"""The stand-ins say no where the real ones do, and requests are those of the provider: else nothing is shown."""

import datetime
from typing import Any

import pytest

from tests.clouds.aws.sizes.account import EKS_END, START, Account, Block, CreateFailedError, Group, RefusedError
from tests.clouds.aws.sizes.autoscaler import USUAL_TAGS, Autoscaler
from tests.clouds.aws.sizes.provider import FIXED, replaced, updates
from workbench.engine.diff import ignored

WHICH = {"clusterName": "main", "nodegroupName": "g"}
TAGS = [tag.format(cluster="main") for tag in USUAL_TAGS]
STATE: dict[str, Any] = {
    "clusterName": "main",
    "nodeGroupName": "g",
    "scalingConfig": {"minSize": 0, "desiredSize": 3, "maxSize": 4},
    "launchTemplate": {"id": "lt-1", "version": "1"},
    "labels": {"a": "1", "b": "2"},
    "version": "1.34",
}


def sizes(least: int, wanted: int, most: int) -> dict[str, int]:
    return {"minSize": least, "desiredSize": wanted, "maxSize": most}


def account(least: int = 0, wanted: int = 2, most: int = 4) -> Account:
    made = Account()
    made.create({**WHICH, "scalingConfig": sizes(least, wanted, most), "version": "1.34"})
    return made


class TestAccount:
    @pytest.mark.parametrize("found", [sizes(2, 1, 3), sizes(0, 4, 3), sizes(0, 0, 0)], ids=str)
    def test_sizes_that_do_not_agree(self, found: dict[str, int]) -> None:
        with pytest.raises(RefusedError, match="InvalidParameterException"):
            Account().create({**WHICH, "scalingConfig": found})
        with pytest.raises(RefusedError, match="InvalidParameterException"):
            account().update_config({**WHICH, "scalingConfig": found})

    def test_one_size_is_held_against_the_live_ones(self) -> None:
        made = account()
        with pytest.raises(RefusedError):
            made.update_config({**WHICH, "scalingConfig": {"minSize": 3}})
        made.update_config({**WHICH, "scalingConfig": {"minSize": 2}})
        assert made.groups["g"].sizes == sizes(2, 2, 4)

    def test_a_name_is_taken(self) -> None:
        with pytest.raises(RefusedError, match="ResourceInUseException"):
            account().create({**WHICH, "scalingConfig": sizes(0, 0, 1)})

    def test_busy_nodes_that_go_are_told(self) -> None:
        made = account(wanted=3)
        made.groups["g"].busy = 2
        made.update_config({**WHICH, "scalingConfig": sizes(0, 2, 4)})
        assert made.taken == []
        made.update_config({**WHICH, "scalingConfig": sizes(0, 1, 4)})
        assert made.taken == ["g: 2 of 2 nodes busy, 1 left"]

    @pytest.mark.parametrize(
        "change", [{"version": "1.33"}, {"releaseVersion": "1.35.6-20260714"}, {"nodegroupName": "h"}], ids=str
    )
    def test_versions_and_names_that_there_are_not(self, change: dict[str, str]) -> None:
        with pytest.raises(RefusedError):
            account().update_version({**WHICH, **change})

    def test_an_auto_scaling_group_keeps_its_bounds(self) -> None:
        made = account(least=1)
        for nodes in (0, 5):
            with pytest.raises(RefusedError, match="outside"):
                made.set_desired(made.groups["g"], nodes)

    def test_a_group_for_whose_nodes_there_is_no_capacity(self) -> None:
        """CREATE_FAILED; the name is taken all the same, and only a deletion frees it."""
        made = Account(capacity={"p4d.24xlarge": 1})
        request = {**WHICH, "scalingConfig": sizes(0, 2, 4), "instanceTypes": ["p4d.24xlarge"]}
        with pytest.raises(CreateFailedError, match="1 of 2 nodes"):
            made.create(request)
        assert made.groups["g"].status == "CREATE_FAILED"
        with pytest.raises(RefusedError, match="CREATE_FAILED"):
            made.update_config({**WHICH, "scalingConfig": {"desiredSize": 1}})
        with pytest.raises(RefusedError, match="ResourceInUseException"):
            made.create({**request, "scalingConfig": sizes(0, 1, 4)})
        made.delete("g")
        assert made.create({**request, "scalingConfig": sizes(0, 1, 4)}).status == "ACTIVE"

    def test_nodes_come_when_there_is_capacity(self) -> None:
        made = Account(capacity={"p4d.24xlarge": 0})
        group = made.create({**WHICH, "scalingConfig": sizes(0, 0, 4), "instanceTypes": ["p4d.24xlarge"]})
        made.set_desired(group, 2)
        assert (group.status, group.sizes["desiredSize"], group.nodes) == ("ACTIVE", 2, 0)
        made.capacity["p4d.24xlarge"] = 1
        made.settle()
        assert group.nodes == 1
        made.capacity.clear()
        made.settle()
        assert group.nodes == 2


TEMPLATE = {
    "instanceType": "p5.48xlarge",
    "instanceMarketOptions": {"marketType": "capacity-block"},
    "capacityReservationSpecification": {"capacityReservationTarget": {"capacityReservationId": "cr-a"}},
}
BLOCK = {**WHICH, "scalingConfig": sizes(0, 0, 4), "capacityType": "CAPACITY_BLOCK", "version": "1.34"}


def hours(count: float) -> datetime.datetime:
    return START + datetime.timedelta(hours=count)


def with_block() -> tuple[Account, Group]:
    """An account with a block of two instances from an hour from now on, for a day, and a group of it."""
    made = Account(version="1.34", blocks={"cr-a": Block(2, hours(1), hours(25))})
    return made, made.create(BLOCK, TEMPLATE)


class TestVersions:
    def test_no_node_is_newer_than_the_cluster(self) -> None:
        made = account()
        made.version = "1.34"
        with pytest.raises(RefusedError, match=r"newer than the cluster's 1\.34"):
            made.update_version({**WHICH, "version": "1.35"})
        made.version = "1.35"
        made.update_version({**WHICH, "version": "1.35"})
        assert made.groups["g"].version == "1.35"

    def test_no_release_goes_back(self) -> None:
        made = account()
        made.update_version({**WHICH, "releaseVersion": "1.34.9-20260714"})
        with pytest.raises(RefusedError, match=r"release 1\.34\.8-20260601 is older"):
            made.update_version({**WHICH, "releaseVersion": "1.34.8-20260601"})
        made.update_version({**WHICH, "releaseVersion": "1.34.10-20261101"})


class TestBlocks:
    @pytest.mark.parametrize("left_out", sorted(TEMPLATE))
    def test_the_launch_template_of_a_block(self, left_out: str) -> None:
        template = {key: value for key, value in TEMPLATE.items() if key != left_out}
        with pytest.raises(RefusedError, match="is not for a Capacity Block"):
            Account(blocks={"cr-a": Block(2, hours(1), hours(25))}).create(BLOCK, template)

    def test_a_block_that_there_is_not(self) -> None:
        with pytest.raises(RefusedError, match="no Capacity Block cr-a"):
            Account().create(BLOCK, TEMPLATE)

    def test_nodes_run_while_the_block_does_and_go_before_its_end(self) -> None:
        made, group = with_block()
        made.set_desired(group, 3)
        assert (group.status, group.nodes) == ("ACTIVE", 0)
        made.advance(hours(1))
        assert group.nodes == 2  # not three: that is what was bought
        group.busy = 2
        made.advance(hours(25) - datetime.timedelta(minutes=41))
        assert group.nodes == 2
        made.advance(hours(25) - datetime.timedelta(minutes=40))
        assert (group.nodes, group.sizes["desiredSize"], made.taken) == (0, 0, [])
        assert EKS_END not in group.actions

    def test_ec2_ends_busy_nodes_that_eks_did_not(self) -> None:
        made, group = with_block()
        made.set_desired(group, 2)
        made.advance(hours(2))
        group.busy = 1
        del group.actions[EKS_END]
        made.advance(hours(25))
        assert made.taken == ["g: EC2 ended 1 busy nodes with cr-a"]

    def test_only_a_group_without_nodes_is_updated(self) -> None:
        made, group = with_block()
        made.update_version(WHICH, TEMPLATE)
        made.set_desired(group, 1)
        for at in (hours(0), hours(2)):
            made.advance(at)
            with pytest.raises(RefusedError, match="desired size 1; it must be 0"):
                made.update_version(WHICH, TEMPLATE)
        made.update_config({**WHICH, "labels": {"addOrUpdateLabels": {"a": "1"}}})

    def test_eks_does_not_schedule_the_end_of_another_block(self) -> None:
        made, group = with_block()
        made.blocks["cr-b"] = Block(2, hours(1), hours(49))
        target = {"capacityReservationTarget": {"capacityReservationId": "cr-b"}}
        made.update_version(WHICH, {**TEMPLATE, "capacityReservationSpecification": target})
        assert group.block == "cr-b"
        assert group.actions[EKS_END].starts == hours(25) - datetime.timedelta(minutes=40)


class TestActions:
    @staticmethod
    def request(**changes: Any) -> dict[str, Any]:
        given = {"AutoScalingGroupName": "eks-g-1", "ScheduledActionName": "a", "DesiredCapacity": 2, **changes}
        return {key: f"{value:%Y-%m-%dT%H:%M:%SZ}" if key.endswith("Time") else value for key, value in given.items()}

    @pytest.mark.parametrize(
        ("changes", "expected"),
        [
            ({"StartTime": hours(-1)}, "start time is in the past"),
            ({"Recurrence": "2,7 * * * *", "EndTime": hours(0)}, "end time is in the past"),
            ({"Recurrence": "2 * * * *", "StartTime": hours(3), "EndTime": hours(2)}, "or before the start"),
            ({}, "a start or a recurrence"),
            ({"StartTime": hours(25) - datetime.timedelta(minutes=40)}, "this start time already exists"),
            ({"Recurrence": "*/5 * * * *"}, "this start time already exists"),
            ({"StartTime": hours(2), "AutoScalingGroupName": "eks-h-1"}, "name not found"),
        ],
    )
    def test_actions_that_are_refused(self, changes: dict[str, Any], expected: str) -> None:
        made, _ = with_block()
        with pytest.raises(RefusedError, match=expected):
            made.put_action(self.request(**changes))

    def test_an_action_that_runs_once(self) -> None:
        made, group = with_block()
        made.put_action(self.request(StartTime=hours(2)))
        made.advance(hours(2) - datetime.timedelta(minutes=1))
        assert group.nodes == 0
        made.advance(hours(2))
        assert group.nodes == 2
        assert list(group.actions) == [EKS_END]  # it does not stay
        made.delete_action("eks-g-1", "a")  # the provider takes "not found" for done

    def test_an_action_that_recurs(self) -> None:
        made, group = with_block()
        made.put_action(self.request(Recurrence="2,7 * * * *", StartTime=hours(2), EndTime=hours(4)))
        made.advance(hours(1.9))
        assert group.sizes["desiredSize"] == 0
        made.advance(hours(2))
        assert group.nodes == 2  # at its start, whatever the recurrence
        made.set_desired(group, 0)
        made.advance(hours(2) + datetime.timedelta(minutes=1))
        assert group.nodes == 0
        made.advance(hours(2) + datetime.timedelta(minutes=2))
        assert group.nodes == 2
        made.advance(hours(4))
        assert list(group.actions) == [EKS_END]
        made.set_desired(group, 0)
        made.advance(hours(6))
        assert group.nodes == 0


class TestAutoscaler:
    @pytest.mark.parametrize(
        ("told", "wanted", "nodes"),
        [
            ((0, 4), 4, 4),
            ((0, 3), 4, 3),
            ((0, 1), 4, 2),
            ((0, 1), 0, 0),
            ((1, 4), 0, 1),
            ((3, 4), 0, 3),
            ((0, 4), 1, 1),
        ],
    )
    def test_within_what_it_is_told(self, told: tuple[int, int], wanted: int, nodes: int) -> None:
        made = account()
        Autoscaler({made.groups["g"].scaled: told}, fills=True).look(made, {"g": wanted})
        assert made.groups["g"].nodes == nodes

    def test_it_fills_up_to_a_minimum_on_request_alone(self) -> None:
        made = account()
        Autoscaler({made.groups["g"].scaled: (3, 4)}).look(made, {})
        assert made.groups["g"].nodes == 2

    @pytest.mark.parametrize(("tags", "nodes"), [(TAGS, 4), ([*TAGS, "ours"], 2), ([], 2)])
    def test_it_finds_groups_that_have_all_tags(self, tags: list[str], nodes: int) -> None:
        made = account()
        Autoscaler(tags=tags).look(made, {"g": 9})
        assert made.groups["g"].nodes == nodes
        assert made.groups["g"].busy == nodes


class TestProvider:
    def test_one_size_sends_all_three(self) -> None:
        """Ignored alone, the wanted size goes along as it was read last."""
        wanted = {**STATE, "scalingConfig": sizes(0, 1, 5)}
        (request,) = updates(STATE, ignored(STATE, wanted, ["scalingConfig.desiredSize"]))
        assert (request.operation, request.params["scalingConfig"]) == ("UpdateNodegroupConfig", sizes(0, 3, 5))
        assert updates(STATE, ignored(STATE, wanted, ["scalingConfig"])) == []

    def test_labels_are_sent_without_sizes(self) -> None:
        (request,) = updates(STATE, {**STATE, "labels": {"a": "2"}})
        assert request.params["labels"] == {"addOrUpdateLabels": {"a": "2"}, "removeLabels": ["b"]}
        assert "scalingConfig" not in request.params

    def test_versions_go_first(self) -> None:
        after = {
            **STATE,
            "version": "1.35",
            "releaseVersion": "1.35.6-20260714",
            "updateConfig": {"maxUnavailable": 1},
        }
        version, config = updates(STATE, after)
        assert (version.operation, version.params["version"]) == ("UpdateNodegroupVersion", "1.35")
        assert (config.operation, config.params["updateConfig"]) == ("UpdateNodegroupConfig", {"maxUnavailable": 1})

    @pytest.mark.parametrize("key", FIXED)
    def test_what_is_fixed_needs_another_group(self, key: str) -> None:
        assert replaced(STATE, {**STATE, key: "other"})
        assert not replaced(STATE, {**STATE, "labels": {}})

    def test_another_launch_template_does_too(self) -> None:
        assert replaced(STATE, {**STATE, "launchTemplate": {"id": "lt-2", "version": "1"}})
        assert not replaced(STATE, {**STATE, "launchTemplate": {"id": "lt-1", "version": "2"}})
