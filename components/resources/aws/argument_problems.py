"""Checks of arguments that several components have; they yield all problems at once."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from ...clouds.aws.facts.eks import limits
from ...clouds.aws.facts.iam import boundary_problem
from ...clouds.aws.facts.regions import REGION
from ...contract.problems import field_path
from ...plan.faults import faults
from .timeout_settings import AwsTimeoutSettings

_CLUSTER = re.compile(r"[0-9A-Za-z][A-Za-z0-9_-]*")

Problems = Iterator[tuple[str, str]]
"""Pairs of an argument and what is wrong with it."""


def place_problems(key: str, cluster: str, region: str) -> Problems:
    """Check the name of a cluster, in the argument ``key``, and the region."""
    yield from cluster_problems(key, cluster)
    yield from region_problems(region)


def cluster_problems(key: str, cluster: str) -> Problems:
    """Check the name of a cluster, in the argument ``key``."""
    longest = limits().cluster_name
    if not (_CLUSTER.fullmatch(cluster) and len(cluster) <= longest):
        yield (
            key,
            f"found {cluster!r}; EKS allows 1 to {longest} letters, digits, '-' and '_', starting with a letter or "
            "digit",
        )


def region_problems(region: str) -> Problems:
    if not REGION.fullmatch(region):
        yield "region", f"found {region!r}; write a region such as us-east-1"


def boundary_problems(args: Mapping[str, Any]) -> Problems:
    """Check the permissions boundary of the roles that a component creates."""
    problem = boundary_problem(args["permissions_boundary_arn"]) if "permissions_boundary_arn" in args else None
    if problem:
        yield "permissions_boundary_arn", problem


def repeated(key: str, values: Sequence[str]) -> Problems:
    """Yield duplicates in a list."""
    for value in dict.fromkeys(values):
        if values.count(value) > 1:
            yield key, f"{value!r} is listed {values.count(value)} times; list it once"


def timeout_problems(args: Mapping[str, Any]) -> Problems:
    """Yield what is wrong with the argument ``timeouts`` of a component."""
    try:
        AwsTimeoutSettings.model_validate(args.get("timeouts") or {}, by_name=True, by_alias=False)
    except ValidationError as error:
        # The type of the arguments has already reported unknown keys.
        wrong = faults(error, AwsTimeoutSettings, by_name=True)
        yield from ((field_path(("timeouts", *fault.path)), fault.reason) for fault in wrong if not fault.unknown)
