"""How the components of this folder say what is wrong with their arguments: all of it at once."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from ...api.problems import Problem
from ...serving.arguments import plain, refuse
from ...serving.typed_args import unknown_keys
from ..facts.eks import limits

REGION = re.compile(r"[a-z]{2,4}(-[a-z]+)+-\d+")
_CLUSTER = re.compile(r"[0-9A-Za-z][A-Za-z0-9_-]*")

Args = TypeVar("Args", bound=Mapping[str, Any])
Problems = Iterator[tuple[str, str]]
"""Argument, and what is wrong with it."""


def checked(name: str, args: Args, typed: type[Args], problems: Callable[[Args], Problems]) -> Args:
    """Return arguments with whole numbers as integers.

    Args:
        name: Name of the component.
        args: What was given.
        typed: The TypedDict that describes it.
        problems: Yields what else is wrong, by argument.

    Raises:
        InvalidArguments: keys are unknown or something else is wrong; every problem is listed.
    """
    read: Args = plain(args)
    found = [*unknown_keys(read, typed), *problems(read)]
    if found:
        refuse(Problem(name, 0, "", "", path, reason) for path, reason in found)
    return read


def missing(args: Mapping[str, Any], typed: type) -> Problems:
    """Yield the arguments that a component cannot do without, and that are not there."""
    required: frozenset[str] = getattr(typed, "__required_keys__", frozenset())
    return ((key, "is required") for key in sorted(required) if args.get(key) is None)


def place_problems(key: str, cluster: str, region: str) -> Problems:
    """Yield what is wrong with a cluster's name, an argument of any name, and with the region."""
    yield from cluster_problems(key, cluster)
    yield from region_problems(region)


def cluster_problems(key: str, cluster: str) -> Problems:
    """Yield what is wrong with a cluster's name, an argument of any name."""
    longest = limits().cluster_name
    if not (_CLUSTER.fullmatch(cluster) and len(cluster) <= longest):
        yield (
            key,
            f"found {cluster!r}; EKS allows 1 to {longest} letters, digits, '-' and '_', starting with a letter or "
            "digit",
        )


def region_problems(region: str) -> Problems:
    """Yield what is wrong with a region."""
    if not REGION.fullmatch(region):
        yield "region", f"found {region!r}; write a region such as us-east-1"


def repeated(key: str, values: Sequence[str]) -> Problems:
    """Yield what is in a list twice."""
    for value in dict.fromkeys(values):
        if values.count(value) > 1:
            yield key, f"{value!r} is listed {values.count(value)} times; list it once"
