"""Plans the node groups of GpuNodeGroups and KarpenterPools, with the same checks as a stack."""

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
from ...fleet.instances import instances_beside
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
from .argument_problems import cluster_problems, region_problems, timeout_problems
from .node_settings import OPERATED_TAINTS, NodeSettings

_RENDERING = ("realization", "realizations", "workload", "runtimes", "service_levels", "instance_types")
_AnySection = TypeVar("_AnySection", bound=Section)
_Found = list[tuple[str, str]]
"""Pairs of an argument and what is wrong with it."""


class _NodeArguments(NodeSettings):
    """The plain arguments that determine the nodes."""

    region: str = ""
    version: str = ""
    subnets: dict[str, Any] = Field(default_factory=dict, min_length=1)

    def place(self, name: str) -> NodeEnvironment:
        """Return the environment of the nodes; messages name the component."""
        return self.environment(self.region, tuple(self.subnets), self.version, {}, SettingsLocation(name))


def planned_groups(
    name: str, raw_args: Args, typed: type[Args], provisioner: Provisioner
) -> tuple[Args, tuple[NodeGroupPlan, ...], NodeEnvironment]:
    """Return the arguments with whole numbers as integers, the planned node groups, and their environment.

    Logs warnings.

    Args:
        name: Name of the component.
        raw_args: Its arguments.
        typed: Their TypedDict.
        provisioner: What launches the nodes.

    Raises:
        InvalidArguments: arguments or nodes are invalid; every problem is listed.
    """
    usable, invalid = usable_args(raw_args, typed)
    args = cast("Args", whole_numbers(usable))
    if has_unusable(raw_args, usable):
        raise_errors(Problem(file=name, path=path, reason=reason, rule=RuleId.SETTINGS) for path, reason in invalid)
    invalid += [*missing(args, typed), *_contradictions(args)]
    nodes = _read(_NodeArguments, {**args, "provisioner": provisioner}, invalid)
    fleet = _read(FleetSettings, {key: args[key] for key in _RENDERING if key in args}, invalid)
    if invalid or not nodes or not fleet:
        raise_errors(Problem(file=name, path=path, reason=reason, rule=RuleId.SETTINGS) for path, reason in invalid)
    if nodes.has_taints and fleet.is_operated and not args.get("flavors"):
        raise_errors([Problem(file=name, path="taints", reason=OPERATED_TAINTS, rule=RuleId.SETTINGS)])
    with instances_beside(fleet.types):
        environment = nodes.place(name)
        if args.get("flavors"):
            groups, problems = _groups_of_flavors(name, args["flavors"], environment)
        else:
            options = replace(
                fleet.options(),
                alternatives=environment.nodes.alternatives,
                overrides=PodOverrides(tolerations=environment.nodes.tolerations),
            )
            groups, problems = _groups_of_manifests(name, args["manifests"], environment, options)
        problems = list(problems)
    missing_address = _missing_address(name, args, groups) if provisioner == Provisioner.MANAGED else ()
    report([*problems, *missing_address])
    return args, groups, environment


def _read(section: type[_AnySection], args: Mapping[str, Any], errors: _Found) -> _AnySection | None:
    """Validate arguments as settings; problems are added to ``found``."""
    values = {key: args[key] for key in section.model_fields if args.get(key) is not None}
    try:
        return section.model_validate(values, by_name=True, by_alias=False)
    except ValidationError as error:
        wrong = faults(error, section, by_name=True)
        # The type of the arguments has already reported unknown keys.
        errors += [(field_path(fault.path), fault.reason) for fault in wrong if not fault.unknown]
    return None


def _contradictions(args: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "cluster_plain_name" in args:
        yield from cluster_problems("cluster_plain_name", args["cluster_plain_name"])
    if "region" in args:
        yield from region_problems(args["region"])
    yield from flavors_or_manifests(args)
    yield from timeout_problems(args)

    without = [zone for zone in args.get("zones") or () if zone not in args.get("subnets", {})]
    if without:
        yield "zones", f"{', '.join(without)}: has no subnet; add one to subnets, or remove the zone"


def _groups_of_flavors(
    name: str, raw_flavors: list[FlavorArgs], environment: NodeEnvironment
) -> tuple[tuple[NodeGroupPlan, ...], Iterable[Problem]]:
    """Return groups that scale to zero by default, since the models that will use them are unknown."""
    values = wire(raw_flavors, list[FlavorArgs])
    demands, problems = flavors(values, Argument(name, "flavors"), environment.nodes.alternatives)
    groups = group_plans(
        flavor_groups(demands, environment.nodes, int(not environment.scale_to_zero)),
        environment,
        cap=MAX_UNCLAIMED_NODES,
    )
    requests = list(flavor_requests(demands))
    return groups, (
        *problems,
        *misfits(requests, environment.nodes.efa_types),
        *check_groups(requests, groups, environment),
    )


def _groups_of_manifests(
    name: str, manifests: list[Any], environment: NodeEnvironment, options: Options
) -> tuple[tuple[NodeGroupPlan, ...], Iterable[Problem]]:
    cloud = AwsEnvironment(environment.region, environment, existing=True, renders=False)
    options = replace(options, tolerates_devices=True)
    planned = plan(objects(manifests), Environment(options=options, cloud=cloud, file=name))
    return own_groups(planned.cloud_groups), planned.problems


def _missing_address(name: str, args: Mapping[str, Any], groups: Iterable[NodeGroupPlan]) -> Iterator[Problem]:
    """Report arguments that nodes with a custom image require."""
    own = sorted({group.node.name for group in groups if group.ami_id})
    for key in ("endpoint", "certificate_authority") if own else ():
        if args.get(key) is None:
            reason = f"is required with a custom image (ami_id of {', '.join(own)})"
            yield Problem(file=name, path=key, reason=reason, rule=RuleId.SETTINGS)
