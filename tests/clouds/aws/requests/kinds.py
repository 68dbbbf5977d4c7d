"""From a registered resource to the AWS requests it stands for, and what is wrong with them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.clouds.aws.models import shapes
from tests.clouds.aws.models.authorization import text_problems
from tests.clouds.aws.models.documented import tag_problems
from tests.clouds.aws.requests import (
    access,
    clusters,
    compute,
    file_systems,
    identity,
    instances,
    messages,
    network,
    network_more,
    node_groups,
    registries,
    scaling,
    security_groups,
)
from tests.clouds.aws.requests.plan import From, Given, Plan, Planner, Request, Text, reveal
from workbench.engine.values import UNKNOWN

KINDS: Mapping[str, Planner] = {
    **network.KINDS,
    **network_more.KINDS,
    **security_groups.KINDS,
    **compute.KINDS,
    **instances.KINDS,
    **scaling.KINDS,
    **identity.KINDS,
    **messages.KINDS,
    **clusters.KINDS,
    **file_systems.KINDS,
    **node_groups.KINDS,
    **access.KINDS,
    **registries.KINDS,
}
"""How each Pulumi type is made."""


def is_aws(type_: str) -> bool:
    return type_.startswith("aws:")


def check_entry(type_: str, inputs: Mapping[str, Any], name: str = "") -> list[str]:
    """Return what AWS would refuse of a resource as ``tests.recorded`` has it, unknowns and secrets included.

    Args:
        type_: Pulumi's type, such as ``aws:eks/cluster:Cluster``; what is not of AWS has no problems.
        inputs: The inputs.
        name: Logical name, of which the provider makes a name where none is given; without it none is checked.

    Raises:
        AssertionError: the type, or one of the inputs, is not known here.
    """
    if not is_aws(type_):
        return []
    return check_plan(type_, inputs, plan_of(type_, inputs, name))


def plan_of(type_: str, inputs: Mapping[str, Any], name: str = "") -> Plan:
    """Return the requests of a resource.

    Raises:
        AssertionError: the type, or one of the inputs, is not known here.
    """
    assert type_ in KINDS, f"{type_}: no request is known for this type"
    given = Given(reveal(inputs), type_, name)
    plan = KINDS[type_](given)
    given.done()
    return replace(plan, problems=[*given.problems, *plan.problems])


def check_plan(type_: str, inputs: Mapping[str, Any], plan: Plan) -> list[str]:
    """Return the problems of a plan: what botocore's models forbid, and what AWS documents beyond them."""
    found = [
        f"{request.operation}: {problem}"
        for request in (plan.create, *plan.then)
        for problem in shapes.problems(request.service, request.operation, without_answers(request))
    ]
    found += [f"{plan.create.operation}: {problem}" for problem in (*plan.problems, *text_problems(reveal(inputs)))]
    # Auto Scaling's single tag has a key of its own.
    tags = reveal(inputs).get("tags")
    return [f"{type_}: {problem}" for problem in [*found, *tag_problems(tags)]]


def without_answers(request: Request) -> dict[str, Any]:
    """Return the parameters with unknowns for what only answers know."""
    return {name: _hide(value) for name, value in request.params.items()}


def _hide(value: Any) -> Any:
    if isinstance(value, From | Text):
        return UNKNOWN
    if isinstance(value, Mapping):
        return {key: _hide(inner) for key, inner in value.items()}
    return [_hide(item) for item in value] if isinstance(value, list) else value
