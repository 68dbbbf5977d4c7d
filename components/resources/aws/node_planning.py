"""From the arguments of GpuNodeGroups and KarpenterPools to node groups, with the checks that a stack makes too."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar, cast

from pydantic import Field, ValidationError

from ...clouds.aws.environment import AwsEnvironment, own_groups
from ...clouds.aws.nodes.checks import check_groups
from ...clouds.aws.nodes.plan import NodeEnvironment, NodeGroupPlan, group_plans
from ...clouds.aws.nodes.settings_location import SettingsLocation
from ...clouds.aws.words import Provisioner
from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, field_path
from ...families import flavors, objects
from ...fleet.nodes.fit import flavor_requests, misfits
from ...fleet.nodes.groups import MAX_UNCLAIMED_NODES, flavor_groups
from ...fleet.options import Options, PodOverrides
from ...fleet.origins import Argument
from ...plan.environment import Environment
from ...plan.faults import faults
from ...plan.plan import plan
from ...plan.section import Section
from ...plan.settings import FleetSettings
from ..serving.args import FlavorArgs
from ..serving.arguments import (
    Args,
    flavors_or_manifests,
    has_unusable,
    missing,
    raise_errors,
    report,
    usable_args,
    whole_numbers,
)
from ..serving.typed_args import wire
from .argument_problems import cluster_problems, region_problems
from .node_settings import OPERATED_TAINTS, NodeSettings

_RENDERING = ("realization", "realizations", "workload", "runtimes", "service_levels")
_AnySection = TypeVar("_AnySection", bound=Section)
_Found = list[tuple[str, str]]
"""Arguments, and what is wrong with them."""


class _NodeArguments(NodeSettings):
    """The plain arguments that say which nodes there are."""

    region: str = ""
    version: str = ""
    subnets: dict[str, Any] = Field(default_factory=dict, min_length=1)

    def place(self, name: str) -> NodeEnvironment:
        """Return where and how nodes are made; messages name the component."""
        return self.environment(self.region, tuple(self.subnets), self.version, {}, SettingsLocation(name))


def planned_groups(
    name: str, given: Args, typed: type[Args], provisioner: Provisioner
) -> tuple[Args, tuple[NodeGroupPlan, ...], NodeEnvironment]:
    """Return the arguments with whole numbers as integers, the node groups that they describe, and where those are.

    What works but hardly as meant is logged.

    Args:
        name: Name of the component.
        given: Its arguments.
        typed: The TypedDict that describes them.
        provisioner: Who makes the nodes.

    Raises:
        InvalidArguments: something is wrong with the arguments, or with the nodes; every problem is listed.
    """
    usable, found = usable_args(given, typed)
    args = cast("Args", whole_numbers(usable))
    if has_unusable(given, usable):
        raise_errors(Problem(name, 0, "", "", path, reason, rule=RuleId.SETTINGS) for path, reason in found)
    found += [*missing(args, typed), *_contradictions(args)]
    nodes = _read(_NodeArguments, {**args, "provisioner": provisioner}, found)
    fleet = _read(FleetSettings, {key: args[key] for key in _RENDERING if key in args}, found)
    if found or not nodes or not fleet:
        raise_errors(Problem(name, 0, "", "", path, reason, rule=RuleId.SETTINGS) for path, reason in found)
    where = nodes.place(name)
    if args.get("flavors"):
        groups, problems = _of_flavors(name, args["flavors"], where)
    else:
        if nodes.has_taints and fleet.is_operated:
            raise_errors([Problem(name, 0, "", "", "taints", OPERATED_TAINTS, rule=RuleId.SETTINGS)])
        options = replace(
            fleet.options(),
            alternatives=where.nodes.alternatives,
            overrides=PodOverrides(tolerations=where.nodes.tolerations),
        )
        groups, problems = _of_manifests(name, args["manifests"], where, options)
    untold = _without_address(name, args, groups) if provisioner == Provisioner.MANAGED else ()
    report([*problems, *untold])
    return args, groups, where


def _read(section: type[_AnySection], args: Mapping[str, Any], found: _Found) -> _AnySection | None:
    """Return the settings that some arguments are; what is wrong is recorded."""
    values = {key: args[key] for key in section.model_fields if args.get(key) is not None}
    try:
        return section.model_validate(values, by_name=True, by_alias=False)
    except ValidationError as error:
        wrong = faults(error, section, by_name=True)
        # Keys that are unknown have been found by the type of the arguments.
        found += [(field_path(fault.path), fault.reason) for fault in wrong if not fault.unknown]
    return None


def _contradictions(args: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "cluster_plain_name" in args:
        yield from cluster_problems("cluster_plain_name", args["cluster_plain_name"])
    if "region" in args:
        yield from region_problems(args["region"])
    yield from flavors_or_manifests(args)

    without = [zone for zone in args.get("zones") or () if zone not in args.get("subnets", {})]
    if without:
        yield "zones", f"{', '.join(without)}: has no subnet; add one under subnets, or remove the zone"


def _of_flavors(
    name: str, given: list[FlavorArgs], where: NodeEnvironment
) -> tuple[tuple[NodeGroupPlan, ...], Iterable[Problem]]:
    """Return groups that are empty at rest: who will run on them is not known."""
    values = wire(given, list[FlavorArgs])
    demands, found = flavors(values, Argument(name, "flavors"), where.nodes.alternatives)
    groups = group_plans(
        flavor_groups(demands, where.nodes, int(not where.scale_to_zero)), where, cap=MAX_UNCLAIMED_NODES
    )
    requests = list(flavor_requests(demands))
    return groups, (*found, *misfits(requests, where.nodes.efa_types), *check_groups(requests, groups, where))


def _of_manifests(
    name: str, manifests: list[Any], where: NodeEnvironment, options: Options
) -> tuple[tuple[NodeGroupPlan, ...], Iterable[Problem]]:
    """Return groups that are large enough for the models."""
    cloud = AwsEnvironment(where.region, where, existing=True, renders=False)
    options = replace(options, tolerates_devices=True)
    planned = plan(objects(manifests), Environment(options=options, cloud=cloud, file=name))
    return own_groups(planned.cloud_groups), planned.problems


def _without_address(name: str, args: Mapping[str, Any], groups: Iterable[NodeGroupPlan]) -> Iterator[Problem]:
    """Report what nodes with a custom image need to know and is not given."""
    own = sorted({group.node.name for group in groups if group.ami_id})
    for key in ("endpoint", "certificate_authority") if own else ():
        if args.get(key) is None:
            reason = f"is required with an image of your own (ami_id of {', '.join(own)})"
            yield Problem(name, 0, "", "", key, reason, rule=RuleId.SETTINGS)
