"""Renders the loaded resources, and collects their problems."""

from collections.abc import Iterable, Sequence

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
from ..fleet.plausible import check_amounts
from ..fleet.queueing import queued
from ..fleet.rendered import Fleet, Rendered
from .releases import check_release
from .running import unclaimed

_DEFAULTS = Options()
_Member = tuple[tuple[Family, Member], LoadedResource]
"""A resource with its family and its kind."""


def render_fleet(
    resources: Iterable[LoadedResource],
    options: Options = _DEFAULTS,
    unread: Iterable[Problem] = (),
    partial: Iterable[LoadedResource] = (),
    running: Sequence[Rendered] = (),
    passed_through: Iterable[Rendered] = (),
    scalers: Sequence[Rendered] = (),
) -> Fleet:
    """Render resources that may refer and contribute to each other.

    Each resource that serves results in one ``Rendered``; a resource that it refers to is rendered only if an
    operator needs it. Objects shared by several resources are rendered once. Problems are returned, never raised, and
    the result does not depend on the order of the resources. A resource with an error that could be ignored is
    rendered too, so that its dependents are checked; it is not applied while the error remains.

    Args:
        resources: The loaded resources.
        options: Options of the rendering.
        unread: Problems of loading. Dependents of a model that could not be loaded get no further error about a
            missing model.
        partial: Resources without their invalid fields. They are only checked for further problems: they are not
            rendered, and other resources cannot refer to them.
        running: Workloads and autoscalers that exist already, to which the resources may refer.
        passed_through: Workloads among the objects of other APIs, to which the resources may refer; they are not
            part of the fleet.
        scalers: Autoscalers among the objects of other APIs.
    """
    ordered = sorted(((member_of(source.kind), source) for source in resources), key=_order)
    library = Library((source for _, source in ordered), options.namespace, unread)
    for existing in running:
        library.add(existing)
    for other in passed_through:
        library.add_passed_through(other)
    duplicates = _duplicates(ordered, options)
    problems, rendered = list(duplicates.values()), list[Rendered]()
    incomplete = sorted(((member_of(source.kind), source) for source in partial), key=_order)
    # Partial resources come last: they may refer to complete ones, but not the other way round.
    queue = [*((False, entry) for entry in ordered), *((True, entry) for entry in incomplete)]
    for is_partial, ((family, member), source) in queue:
        findings = Findings(source, is_tentative=is_partial)
        wire = source.resource.wire()
        for path, reason in fractional_devices(wire):
            findings.error(path, reason)
        check_amounts(wire, findings)
        own_options = options.of_family(family.name)
        findings.problems += check_release(source, own_options)
        try:
            item = member.render(source, library, own_options, findings)
        except Unrenderable:
            item = None
        problems += findings.problems
        if item and not (findings.is_tentative or findings.has_final_errors) and id(source) not in duplicates:
            item = queued(item)
            rendered.append(item)
            library.add(item)
        elif (findings.has_errors or findings.is_tentative) and not member.attached:
            library.lose(source)
    clashes, unique = without_clashes(rendered)
    # Names of what exists were accepted by the API server, where objects of two kinds may share one.
    present = unclaimed(unique, running)
    written = [item for item in (*present, *scalers) if any(scaler.is_written for scaler in item.autoscalers)]
    wrong_targets = list[Problem]()
    if written:
        from .scalers import resolved

        present = [item for item in present if item not in written]
        written, wrong_targets = resolved(written, unique)
    misdirected, moved = attach_autoscalers((*unique, *present, *written))
    of_families, common = _of_families(moved, library, options)
    problems += [*clashes, *wrong_targets, *misdirected, *check_group_names(moved), *of_families]
    return Fleet((*shared_items(moved), *common, *moved), tuple(sorted(problems, key=lambda p: p.sort_key)))


def _of_families(
    rendered: tuple[Rendered, ...], library: Library, options: Options
) -> tuple[list[Problem], list[Rendered]]:
    """Check the resources of each family together, and return the problems and the shared objects of the families.

    A shared object that a resource or another family renders too is left out and reported: one would overwrite the
    other.
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
            reported, items = family.family_objects(own, library, options.of_family(family.name))
            problems += reported
            for item in items:
                keys = [key_of(body) for body in item.objects]
                taken = [key for key in keys if key in makers]
                for key in taken:
                    reason = (
                        f"{key[0]} {key[2]!r}, which the family {family.name} has once for all its resources, is "
                        f"also generated for {makers[key]}; rename that one, or put the resources into another "
                        "namespace"
                    )
                    problems.append(item.source.problem("metadata.name", reason, rule=RuleId.NAMES_TAKEN))
                if not taken:
                    common.append(item)
                    makers |= dict.fromkeys(keys, f"the family {family.name}")
    return problems, common


def _order(pair: _Member) -> tuple[int, str, str, str]:
    (_, member), source = pair
    # Resources that others refer to come first, and those attached to others last.
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
