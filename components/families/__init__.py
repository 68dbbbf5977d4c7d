"""The API families: one folder each, one line here."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from ..contract import load as reading
from ..contract.base import Json
from ..contract.kinds import Kinds
from ..contract.load import Loaded, Manifests
from ..contract.problems import Problem
from ..fleet.demand import PodDemand
from ..fleet.objects import Object
from ..fleet.options import Options
from ..fleet.origins import Argument
from ..performance.simulation.scenario import Simulator
from ..performance.sizing.cases import Profile
from ..performance.sizing.variants import ModelVariant
from .family import Family, Member, OperatorSite
from .kthena.family import FAMILY as KTHENA
from .leaderworkerset.family import FAMILY as LEADER_WORKER_SET
from .llmaz.family import FAMILY as LLMAZ
from .llmd.family import FAMILY as LLMD
from .llmkube.family import FAMILY as LLMKUBE

FAMILIES: list[Family] = [
    LLMAZ,
    LEADER_WORKER_SET,
    LLMKUBE,
    KTHENA,
    LLMD,
]


def kinds() -> Kinds:
    """Return the kinds of all families."""
    return Kinds(member.kind for family in FAMILIES for member in family.members)


def members() -> dict[str, tuple[Family, Member]]:
    """Return every kind with its family, by ``apiVersion/Kind``."""
    return {member.kind.title: (family, member) for family in FAMILIES for member in family.members}


def operators() -> tuple[str, ...]:
    """Return the families that have an operator: those that can have a realization of their own."""
    return tuple(family.name for family in FAMILIES if family.operator)


def are_operated(options: Options) -> bool:
    """Whether the operator of a family makes pods."""
    serving = (f for f in FAMILIES if f.operator and any(member.serves for member in f.members))
    return any(not options.of_family(family.name).realization.is_native for family in serving)


def operator_objects(name: str, site: OperatorSite) -> tuple[Object, ...]:
    """Return what runs an operator that no chart installs, each object after what it needs."""
    return next(f.operator_objects for f in FAMILIES if f.operator == name and f.operator_objects)(site)


def load(paths: Iterable[Path | str]) -> Manifests:
    """Read files, and folders with everything below them, in the kinds of all families."""
    return reading.load(paths, kinds())


def load_stream(stream: BinaryIO, file: str) -> Manifests:
    """Read manifests from an open file, in the kinds of all families."""
    return reading.load_stream(stream, kinds(), file)


def parse(text: str, file: str = "<text>") -> Manifests:
    """Read manifests from text, in the kinds of all families."""
    return reading.parse(text, kinds(), file)


def objects(values: Iterable[Any], file: str = "<program>") -> Manifests:
    """Take manifests that a program has as data, in the kinds of all families."""
    return reading.objects(values, kinds(), file)


def simulator() -> Simulator:
    """Return what simulates autoscalers of the only family that has its own."""
    return next(family.simulator for family in FAMILIES if family.simulator)


def variants(resources: Iterable[Loaded]) -> tuple[ModelVariant, ...]:
    """Return the variants of models that resources describe."""
    found = (family.variant(source) for source in resources for family in FAMILIES)
    return tuple(each for each in found if each)


def profile_entry(profile: Profile) -> Json:
    """Return what to write into the resource of a variant of a model, so that it is known how fast a replica is."""
    return next(family.profile_entry for family in FAMILIES if family.profile_entry)(profile)


def flavors(
    values: Iterable[Any], at: Argument, alternatives: Mapping[str, tuple[str, ...]]
) -> tuple[list[PodDemand], list[Problem]]:
    """Return what flavors that no model claims ask of nodes, and what is wrong with them.

    Args:
        values: The flavors in wire form.
        at: The argument that holds them.
        alternatives: By instance type, further types that the environment takes instead.
    """
    reader = next(family.flavor for family in FAMILIES if family.flavor)
    read = [reader(value, at.below(f"[{index}]"), alternatives) for index, value in enumerate(values)]
    return [demand for demand, _ in read if demand], [problem for _, found in read for problem in found]
