"""Renders everything that was read, and collects every problem of every resource."""

from collections.abc import Iterable

from ..contract.findings.collector import Findings, Unrenderable
from ..contract.findings.ids import RuleId
from ..contract.load import LoadedResource
from ..contract.problems import Problem
from ..families import FAMILIES, member_of
from ..families.family import Family, Member, SharedObjects
from ..fleet.combining import attach_autoscalers, check_group_names, shared_items, without_clashes
from ..fleet.extended_resources import fractional_devices
from ..fleet.library import Library
from ..fleet.objects import Key, key_of
from ..fleet.options import Options
from ..fleet.rendered import Fleet, Rendered

_DEFAULTS = Options()
_Member = tuple[tuple[Family, Member], LoadedResource]
"""A resource, with its kind among those of its family."""


def render_fleet(
    resources: Iterable[LoadedResource],
    options: Options = _DEFAULTS,
    unread: Iterable[Problem] = (),
    partial: Iterable[LoadedResource] = (),
) -> Fleet:
    """Render resources that may refer and contribute to each other.

    Every resource that serves gives one ``Rendered``; what it refers to becomes an object only where an operator
    wants it. What several of them share is made once. What is wrong is returned, never raised; the same resources
    in another order give the same objects. A resource with an error that could be ignored is rendered too: nothing is
    made of it as long as there is an error, and what depends on it is checked all the same.

    Args:
        resources: What was read.
        options: How to render.
        unread: Problems of reading. A model with a wrong field is reported there; what claims it is not told
            that there is no such model.
        partial: What is left of resources with wrong fields. What else is wrong with them is found; they are not
            rendered, and nothing refers to them.
    """
    ordered = sorted(((member_of(source.kind), source) for source in resources), key=_place)
    library = Library((source for _, source in ordered), options.namespace, unread)
    again = _duplicates(ordered, options)
    problems, rendered = list(again.values()), list[Rendered]()
    incomplete = sorted(((member_of(source.kind), source) for source in partial), key=_place)
    turns = [*((False, each) for each in ordered), *((True, each) for each in incomplete)]
    for is_partial, ((family, member), source) in turns:
        findings = Findings(source, is_tentative=is_partial)
        for path, reason in fractional_devices(source.resource.wire()):
            findings.error(path, reason)
        try:
            item = member.render(source, library, options.of_family(family.name), findings)
        except Unrenderable:
            item = None
        problems += findings.problems
        if item and not (findings.is_tentative or findings.has_final_errors) and id(source) not in again:
            rendered.append(item)
            library.add(item)
        elif (findings.has_errors or findings.is_tentative) and not member.attached:
            library.lose(source)
    clashes, unique = without_clashes(rendered)
    misdirected, moved = attach_autoscalers(unique)
    found, common = _of_families(moved, library, options)
    problems += [*clashes, *misdirected, *check_group_names(moved), *found]
    return Fleet((*shared_items(moved), *common, *moved), tuple(sorted(problems, key=lambda p: p.sort_key)))


def _of_families(
    rendered: tuple[Rendered, ...], library: Library, options: Options
) -> tuple[list[Problem], list[Rendered]]:
    """Check the resources of each family together, and return the objects that each family has once for them.

    An object that a resource or another family makes too is left out and reported: one would overwrite the other.
    """
    problems, common = list[Problem](), list[Rendered]()
    makers: dict[Key, str] = {
        key_of(body): item.source.where for item in rendered for body in (*item.objects, *item.shared)
    }
    for family in FAMILIES.of_groups(item.source.kind.group for item in rendered):
        kinds = {member.kind.title for member in family.members}
        own = [item for item in rendered if item.source.kind.title in kinds]
        problems += family.check(own)
        if own and isinstance(family, SharedObjects):
            found, items = family.family_objects(own, library, options.of_family(family.name))
            problems += found
            for item in items:
                keys = [key_of(body) for body in item.objects]
                taken = [key for key in keys if key in makers]
                problems += [_contested(item, key, family.name, makers[key]) for key in taken]
                common += [] if taken else [item]
                makers |= {} if taken else dict.fromkeys(keys, f"the family {family.name}")
    return problems, common


def _contested(item: Rendered, key: Key, family: str, other: str) -> Problem:
    reason = (
        f"{key[0]} {key[2]!r}, which the family {family} has once for all its resources, is also generated for "
        f"{other}; rename that one, or put the resources into another namespace"
    )
    return item.source.problem("metadata.name", reason, rule=RuleId.NAMES_TAKEN)


def _place(pair: _Member) -> tuple[int, str, str, str]:
    (_, member), source = pair
    turn = 0 if member.referred else 1 + member.attached
    return turn, source.kind.kind, source.resource.metadata.namespace or "", source.name


def _duplicates(ordered: list[_Member], options: Options) -> dict[int, Problem]:
    """Report objects declared twice, and workloads of different kinds with one name, by identity."""
    seen: dict[tuple[str, str, str], LoadedResource] = {}
    problems = {}
    for (_, member), source in ordered:
        namespace = source.resource.metadata.namespace or ""
        if source.kind.namespaced:
            namespace = namespace or options.namespace
        key = ("workload" if member.serves else source.kind.kind, namespace, source.name)
        first = seen.setdefault(key, source)
        if first is not source:
            reason = f"is already used by {first.where}; rename or remove one of the two"
            problems[id(source)] = source.problem("metadata.name", reason, rule=RuleId.NAMES_TAKEN)
    return problems
