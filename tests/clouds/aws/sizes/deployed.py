"""A stack as Pulumi deploys it: state, ignored changes, replacements, and the autoscaler at work in between."""

import datetime
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.clouds.aws.requests.kinds import check_plan, plan_of
from tests.clouds.aws.sizes.account import SIZES, Account, Group
from tests.clouds.aws.sizes.autoscaler import Autoscaler
from tests.clouds.aws.sizes.provider import replaced, updates
from tests.recorded import Entry, Recorded
from tests.resources.aws.aws_mock import Aws
from workbench.engine.diff import ignored
from workbench.engine.values import Secret

GROUP = "aws:eks/nodeGroup:NodeGroup"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
TAG = "aws:autoscaling/tag:Tag"
SCHEDULE = "aws:autoscaling/schedule:Schedule"
CLUSTER = "aws:eks/cluster:Cluster"
CHART = "kubernetes:helm.sh/v3:Release::fleet-cluster-autoscaler"
SYSTEM = "cluster-system"
_NOT_IN_VERSIONS = {"tags", "updateDefaultVersion"}
"""Inputs of a launch template that make no new version (hashicorp/terraform-provider-aws,
internal/service/ec2/ec2_launch_template.go, updateKeys)."""


class NamedGroups(Aws):
    """Auto Scaling groups have names of their node groups, which tell a replacement from what it replaces."""

    def new_resource(self, args: Any) -> tuple[str, dict[str, Any]]:
        id_, outputs = super().new_resource(args)
        if args.typ == GROUP:
            outputs["resources"] = [{"autoscalingGroups": [{"name": asg_of(args.inputs)}]}]
        return id_, outputs


def asg_of(inputs: Mapping[str, Any]) -> str:
    return f"eks-{inputs['nodeGroupName']}"


@dataclass
class Deployed:
    """What the last updates made.

    Attributes:
        state: Of each node group what was last read, by logical name.
        templates: Inputs and version of each launch template.
        schedules: Inputs of each scheduled action.
        wanted: Nodes that pods want, by logical name.
        leaving: Groups that are replaced; the pods stay on them until they go.
        minutes: Most minutes that pass between two requests.
    """

    chance: random.Random
    account: Account = field(default_factory=Account)
    autoscaler: Autoscaler = field(default_factory=Autoscaler)
    state: dict[str, dict[str, Any]] = field(default_factory=dict)
    templates: dict[str, tuple[Any, int]] = field(default_factory=dict)
    schedules: dict[str, dict[str, Any]] = field(default_factory=dict)
    wanted: dict[str, int] = field(default_factory=dict)
    leaving: dict[str, Group] = field(default_factory=dict)
    minutes: int = 0

    def update(self, graph: Recorded) -> None:
        """Bring everything to what a program says.

        Raises:
            RefusedError: AWS refuses a request.
        """
        for entry in graph.graph:
            self._follow(entry)
        gone = set(self.state)
        self.account.version = graph.of(CLUSTER)[0].inputs["version"]
        # Who asks for fewer nodes for the system gets fewer.
        self.wanted[SYSTEM] = min(self.wanted.get(SYSTEM, 0), _asked(graph))
        self.wait()
        for entry in graph.of(GROUP):
            gone.discard(entry.name)
            self._group(entry, self._inputs(entry, graph))
            self.wait()
        for entry in graph.of(TAG):
            group = self.account.scaled(entry.inputs["autoscalingGroupName"])
            assert group, f"{entry.key} is for a group that is not there"
            group.tags[entry.inputs["tag"]["key"]] = entry.inputs["tag"]["value"]
        self._schedule(graph)
        charts = [entry for entry in graph.graph if entry.key == CHART]
        self.autoscaler = Autoscaler.of(charts[0].inputs["values"]) if charts else Autoscaler()
        self.wait()
        names = [group.name for group in self.leaving.values()]
        self.leaving = {}
        for name in gone:
            del self.templates[name]
        for name in [*names, *(self.state.pop(name)["nodeGroupName"] for name in gone)]:
            self.account.delete(name)
            self.wait()
        self._come_and_go(graph)

    def _follow(self, entry: Entry) -> None:
        """Give a resource the name that it has by now, where it had another one."""
        states: dict[str, dict[str, Any]] = {
            GROUP: self.state,
            TEMPLATE: self.templates,
            SCHEDULE: self.schedules,
        }
        state = states.get(entry.type, {})
        for alias in entry.registration.aliases:
            if entry.name not in state and alias.name in state:
                state[entry.name] = state.pop(alias.name)

    def _inputs(self, entry: Entry, graph: Recorded) -> dict[str, Any]:
        """Return the inputs of a group, with the version that its launch template has by now."""
        found = graph[f"{TEMPLATE}::{entry.name}"]
        before, version = self.templates.get(entry.name, (found.inputs, 1))
        template = ignored(before, found.inputs, found.registration.ignore_changes)
        version += any(before.get(key) != template.get(key) for key in {*before, *template} - _NOT_IN_VERSIONS)
        self.templates[entry.name] = (template, version)
        inputs = {key: value.value if isinstance(value, Secret) else value for key, value in entry.inputs.items()}
        return {**inputs, "launchTemplate": {**inputs["launchTemplate"], "version": str(version)}}

    def _group(self, entry: Entry, inputs: dict[str, Any]) -> None:
        """Make or change a group."""
        before = self.state.get(entry.name)
        if before is None:
            self._create(entry, inputs)
            return
        after = ignored(before, inputs, entry.registration.ignore_changes)
        if replaced(before, after):
            self._replace(entry, before, inputs)
            return
        for request in updates(before, after):
            if request.operation == "UpdateNodegroupVersion":
                self.account.update_version(request.params, self.templates[entry.name][0])
            else:
                self.account.update_config(request.params)
            self.wait()
        self._read(entry, after)

    def _replace(self, entry: Entry, before: dict[str, Any], inputs: dict[str, Any]) -> None:
        """Make another group; what it replaces goes at the end, or first where the program says so."""
        old = self.account.groups[before["nodeGroupName"]]
        if entry.registration.delete_before_replace is not False:
            # Reserved nodes cannot be had twice; of others the pods would have none to go to. A Capacity Block keeps
            # its nodes but for what no group can do without: its role and its network.
            fixed = all(before[key] == inputs[key] for key in ("nodeRoleArn", "subnetIds"))
            if "odcr" not in entry.name and (fixed or "capacity-block" not in entry.name) and old.nodes:
                self.account.taken.append(f"{old.name} goes before there is another")
            self.account.delete(old.name)
        else:
            self.leaving[entry.name] = old
        self._create(entry, inputs)

    def _create(self, entry: Entry, inputs: dict[str, Any]) -> None:
        plan = plan_of(GROUP, inputs, entry.name)
        assert check_plan(GROUP, inputs, plan) == []
        group = self.account.create(plan.create.params, self.templates[entry.name][0])
        group.scaled = asg_of(inputs)
        self._read(entry, inputs)

    def _schedule(self, graph: Recorded) -> None:
        """Make, replace and delete scheduled actions; the provider sends an update with the start that it read."""
        entries = graph.of(SCHEDULE)
        # A group whose name is ignored keeps its Auto Scaling group.
        scaled = {asg_of(entry.inputs): asg_of(self.state[entry.name]) for entry in graph.of(GROUP)}
        for name in self.schedules.keys() - {entry.name for entry in entries}:
            self._unschedule(self.schedules.pop(name))
        for entry in entries:
            inputs = {**entry.inputs, "autoscalingGroupName": scaled[entry.inputs["autoscalingGroupName"]]}
            before = self.schedules.get(entry.name)
            if before is not None:
                after = ignored(before, inputs, entry.registration.ignore_changes)
                if after == before:
                    continue
                if any(before[key] != after[key] for key in ("autoscalingGroupName", "scheduledActionName")):
                    assert entry.registration.delete_before_replace, "two actions would be due at the same time"
                    self._unschedule(before)
                else:
                    inputs = {**after, **({"startTime": before["startTime"]} if "startTime" in before else {})}
            plan = plan_of(SCHEDULE, inputs, entry.name)
            assert check_plan(SCHEDULE, inputs, plan) == []
            self.account.put_action(plan.create.params)
            self.schedules[entry.name] = inputs
            self.wait()

    def _unschedule(self, inputs: Mapping[str, Any]) -> None:
        self.account.delete_action(inputs["autoscalingGroupName"], inputs["scheduledActionName"])

    def _read(self, entry: Entry, inputs: dict[str, Any]) -> None:
        """The provider reads a group after each request: what is live then is the state."""
        live = self.account.groups[inputs["nodeGroupName"]].sizes
        self.state[entry.name] = {**inputs, "scalingConfig": {key: live[key] for key in SIZES}}

    def _come_and_go(self, graph: Recorded) -> None:
        """Let replicas be anywhere between their bounds, for a while."""
        nodes = graph.exports["nodes"]
        system = self.account.groups[self.state[SYSTEM]["nodeGroupName"]]
        most = (self.autoscaler.bounds(system) or (0, _asked(graph)))[1]
        for _ in range(3):
            self.wanted = {
                f"nodes-{name}": self.chance.randint(each["nodes"], max(each["nodes"], each["maxNodes"]))
                for name, each in nodes.items()
            }
            self.wanted[SYSTEM] = self.chance.randint(1, most)
            self.wait()
        self.wanted |= {f"nodes-{name}": each["nodes"] for name, each in nodes.items()}
        self.wait()

    def _wanted(self, name: str) -> int:
        """Return how many nodes of a group pods want; each group of a block may have all of them."""
        return self.wanted.get(without_block(name), self.wanted.get(name, 0))

    def wait(self) -> None:
        """Let time pass: the autoscaler looks at the groups."""
        if self.minutes:
            passed = datetime.timedelta(minutes=self.chance.randint(0, self.minutes))
            self.account.advance(self.account.now + passed)
        wanted = {
            (self.leaving[name].name if name in self.leaving else state["nodeGroupName"]): self._wanted(name)
            for name, state in self.state.items()
        }
        self.autoscaler.look(self.account, wanted)


def without_block(name: str) -> str:
    """Return the name of what pods ask for: each of its Capacity Blocks has a node group."""
    return name.rpartition("-")[0] if "-capacity-block-" in name else name


def _asked(graph: Recorded) -> int:
    """Return how many system nodes a program asks for."""
    asked: int = graph[f"{GROUP}::{SYSTEM}"].inputs["scalingConfig"]["desiredSize"]
    return asked
