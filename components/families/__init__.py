"""The API families: one folder each, one line here."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO

from ..contract import load as reading
from ..contract.base import Json
from ..contract.findings.ids import RuleId
from ..contract.kinds import Kind, Kinds
from ..contract.load import LoadedResource, Manifests
from ..contract.problems import Problem
from ..contract.releases import Releases
from ..fleet.demand import PodDemand
from ..fleet.objects import Object
from ..fleet.options import Options
from ..fleet.origins import Argument
from .family import (
    AnnotationReader,
    Authoring,
    Family,
    FlavorReader,
    FlavorReading,
    LabelledServer,
    Member,
    OperatorObjects,
    OperatorSite,
    PodLabels,
    ScalingSimulator,
    VariantDescriber,
)
from .registry import Families

if TYPE_CHECKING:
    from ..performance.simulation.scenario import Simulator
    from ..performance.sizing.cases import ModelVariant, Profile

FAMILIES = Families(
    {
        "llmaz": ("inference.llmaz.io", "llmaz.io"),
        "leaderworkerset": ("leaderworkerset.x-k8s.io",),
        "llmkube": ("federation.llmkube.dev", "inference.llmkube.dev"),
        "kthena": ("networking.serving.volcano.sh", "workload.serving.volcano.sh"),
        "llmd": ("llmd.ai",),
    }
)
"""API groups of each family's kinds, by the name of its folder."""


_NO_RELEASES: Mapping[str, str] = MappingProxyType({})


def kinds(releases: Mapping[str, str] = _NO_RELEASES) -> Kinds:
    """Return the kinds of all families.

    Args:
        releases: The release in which the manifests of a family are read, by family; the others accept the fields of
            all releases.
    """

    def all_kinds() -> Iterator[Kind]:
        # A generator function, because a generator expression would load the families before they are needed.
        yield from (member.kind.at(releases.get(family.name, "")) for family, member in members().values())

    def of_group(group: str) -> Iterator[Kind]:
        families = FAMILIES.of_groups([group])
        return (member.kind.at(releases.get(family.name, "")) for family in families for member in family.members)

    return Kinds(all_kinds(), of_group=of_group)


def releases_of(family: str) -> Releases:
    """Return the releases of a family's API.

    Raises:
        KeyError: there is no such family, or its API has no releases.
    """
    named = (each for each in FAMILIES if each.name == family)
    return {each.name: each.releases for each in named if each.releases.names}[family]


def released() -> tuple[str, ...]:
    """Return the names of the families whose API has several releases."""
    return tuple(family.name for family in FAMILIES if family.releases.names)


def members() -> dict[str, tuple[Family, Member]]:
    """Return every kind with its family, by ``apiVersion/Kind``.

    Raises:
        ValueError: two families have one name, or one kind; neither may hide the other.
    """
    return _members(FAMILIES)


def member_of(kind: Kind) -> tuple[Family, Member]:
    """Return a kind as a member of its family.

    Raises:
        ValueError: two families have the kind.
    """
    return _members(FAMILIES.of_groups([kind.group]))[kind.title]


def _members(families: Iterable[Family]) -> dict[str, tuple[Family, Member]]:
    repeated = [name for name, count in Counter(FAMILIES.names).items() if count > 1]
    if repeated:
        raise ValueError(f"several families are named {repeated[0]!r}; rename all but one")
    owners: dict[str, tuple[Family, Member]] = {}
    for family in families:
        for member in family.members:
            owner, _ = owners.setdefault(member.kind.title, (family, member))
            if owner is not family:
                both = f"{owner.name} and {family.name}"
                raise ValueError(f"{member.kind.title} is a kind of the families {both}; remove it from one of them")
    return owners


def operators() -> tuple[str, ...]:
    """Return the names of the families with an operator, which can have a realization of their own."""
    return tuple(family.name for family in FAMILIES if family.operator)


def are_operated(options: Options) -> bool:
    """Whether an operator creates pods of a family."""
    if options.realization.is_native and all(realization.is_native for realization in options.realizations.values()):
        return False  # without a look at the families, which would import all of them
    for family in FAMILIES:
        has_pods = family.operator and any(member.serves for member in family.members)
        if has_pods and not options.of_family(family.name).realization.is_native:
            return True
    return False


def operator_objects(name: str, site: OperatorSite) -> tuple[Object, ...]:
    """Return the objects of an operator without a chart, in dependency order.

    Raises:
        ValueError: no family renders objects for it, or several do.
    """
    return _maker_of(name)[1].operator_objects(site)


def annotation_problems(value: Object) -> Iterator[tuple[str, str]]:
    """Yield what keeps controllers from reading an object of another API as it is meant, as path and reason."""
    if not (value.get("metadata") or {}).get("annotations"):
        return  # without a look at the families, which would import all of them
    for family in FAMILIES:
        if isinstance(family, AnnotationReader):
            yield from family.annotation_problems(value)


def labelled_server(labels: Mapping[str, str]) -> LabelledServer | None:
    """Return what the labels that a family sets tell about the server of a pod; None if they tell nothing."""
    groups = {key.partition("/")[0] for key in labels if "/" in key}
    readers = (family for family in FAMILIES.of_groups(groups) if isinstance(family, PodLabels))
    return next(filter(None, (reader.labelled_server(labels) for reader in readers)), None)


def operator_family(name: str) -> str:
    """Return the family of an operator without a chart."""
    return _maker_of(name)[0].name


def uninstallable(name: str, releases: Mapping[str, str]) -> tuple[str, str]:
    """Return the family of an operator without a chart, and why the set release cannot be installed; empty if it can.

    Args:
        name: The operator.
        releases: The release of each family's API; the others have the contract's.
    """
    family, maker = _maker_of(name)
    return family.name, maker.uninstallable(releases.get(family.name, ""))


def _maker_of(name: str) -> tuple[Family, OperatorObjects]:
    makers = [(f, f) for f in FAMILIES if f.operator == name and isinstance(f, OperatorObjects)]
    if len(makers) != 1:
        names = " and ".join(family.name for family, _ in makers) or "no family"
        raise ValueError(f"operator {name!r}: must have objects of exactly one family, found {names}")
    return makers[0]


def load(paths: Iterable[Path | str], releases: Mapping[str, str] = _NO_RELEASES) -> Manifests:
    """Read files, and folders with everything below them, in the kinds of all families."""
    return reading.load(paths, kinds(releases))


def load_stream(stream: BinaryIO, file: str, releases: Mapping[str, str] = _NO_RELEASES) -> Manifests:
    """Read manifests from an open file, in the kinds of all families."""
    return reading.load_stream(stream, kinds(releases), file)


def parse(text: str, file: str = "<text>", releases: Mapping[str, str] = _NO_RELEASES) -> Manifests:
    """Read manifests from text, in the kinds of all families."""
    return reading.parse(text, kinds(releases), file)


def objects(values: Iterable[Any], file: str = "<program>", releases: Mapping[str, str] = _NO_RELEASES) -> Manifests:
    """Read manifests that a program has as data, in the kinds of all families."""
    return reading.load_objects(values, kinds(releases), file)


def simulators() -> "tuple[Simulator, ...]":
    """Return the simulators of all kinds of autoscalers."""
    families = (family for family in FAMILIES if isinstance(family, ScalingSimulator))
    return tuple(simulator for family in families for simulator in family.simulators())


def variants(resources: Iterable[LoadedResource]) -> "tuple[ModelVariant, ...]":
    """Return the variants of models that resources describe."""
    described: list[ModelVariant] = []
    for source in resources:
        family, _ = member_of(source.kind)
        variant = family.variant(source) if isinstance(family, VariantDescriber) else None
        if variant:
            described.append(variant)
    return tuple(described)


def profile_entries(profile: "Profile") -> dict[str, Json]:
    """Return a measured profile in the form to paste into a resource, by family name."""
    return {f.name: f.profile_entry(profile) for f in FAMILIES if isinstance(f, VariantDescriber)}


def authors() -> Mapping[str, Authoring]:
    """Return the families that can describe a model on given nodes, by name."""
    return {family.name: family for family in FAMILIES if isinstance(family, Authoring)}


def flavors(
    values: Iterable[Any], at: Argument, alternatives: Mapping[str, tuple[str, ...]]
) -> tuple[list[PodDemand], list[Problem]]:
    """Return the node demand of flavors that no model claims, and their problems.

    Each flavor is read by the family whose schema it matches.

    Args:
        values: The flavors in wire form.
        at: The argument that holds them.
        alternatives: Per instance type, the other types that the environment allows instead.
    """
    readings = [_read_flavor(value, at.below(f"[{index}]"), alternatives) for index, value in enumerate(values)]
    demands = [reading.demand for reading in readings if reading.demand]
    return demands, [problem for reading in readings for problem in reading.problems]


def _read_flavor(value: Json, at: Argument, alternatives: Mapping[str, tuple[str, ...]]) -> FlavorReading:
    readers = (f for f in FAMILIES if isinstance(f, FlavorReader))
    readings = {f.name: f.read_flavor(value, at, alternatives) for f in readers}
    fitting = [name for name, reading in readings.items() if reading.fits]
    if len(fitting) > 1:
        # Each family would create other nodes for it, and pods of the others would find none.
        reason = f"is a flavor of {' and of '.join(fitting)}; write one flavor for each, with the keys of that family"
        return FlavorReading(fits=False, problems=(at.problem(reason, rule=RuleId.SETTINGS),))
    if fitting or len(readings) == 1:
        (reading,) = [readings[name] for name in fitting or readings]
        return reading
    rejections = [
        replace(problem, reason=f"not a flavor of {name}: {problem.reason}")
        for name, reading in readings.items()
        for problem in reading.problems
    ]
    return FlavorReading(fits=False, problems=tuple(rejections))
