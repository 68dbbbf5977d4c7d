"""Whether a plain workload can become a resource of a family without a restart, and what would change otherwise."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from components.contract.problems import errors
from components.contract.schema.embedded import format_value
from components.contract.texts.secrets import masked_at
from components.families import kinds, member_of, objects
from components.fleet.objects import Object
from components.fleet.options import Options
from components.fleet.shapes import LEADER_WORKER_SET, shape_of
from components.plan.conversion.convert import convert_family
from components.plan.rendering import render_fleet
from components.plan.review.differences import parse_path

from .declared import difference_text, missing_parts


class WorkloadConversion(NamedTuple):
    """A plain workload as resources of a family, which the project itself renders.

    Attributes:
        documents: The resources; empty if no kind of the family can express the workload.
        differences: How what is rendered for them differs from the workload; its pods would restart.
    """

    documents: tuple[Object, ...] = ()
    differences: tuple[str, ...] = ()


def conversion_of(manifest: Object, family: str) -> WorkloadConversion:
    """Return a workload as resources of a family, with the differences in its identity, selector and pods.

    Raises:
        ValueError: the family cannot describe workloads of others.
    """
    group = _as_group(manifest)
    if group is None:
        return WorkloadConversion(differences=(f"{family} has no kind for a {manifest['kind']}",))
    kind = kinds().find(LEADER_WORKER_SET.api_version, LEADER_WORKER_SET.kind)
    origin = member_of(kind)[0].name if kind else ""
    conversion = convert_family(objects([group]).resources, family=family, leaving={origin})
    problems = errors(conversion.problems)
    if problems or not conversion.documents:
        reasons = [f"{problem.path}: {problem.reason}" for problem in problems]
        lines = [
            f"{part.path}: {format_value(masked_at(part.after, parse_path(part.path)))}"
            for part in conversion.differences
        ]
        return WorkloadConversion(differences=tuple(reasons or lines) or (f"{family} cannot express it",))
    rendered = render_fleet(objects(conversion.documents).resources, Options())
    bodies = [workload.body for _, workload in rendered.workloads]
    if not bodies:
        unrendered = [f"{problem.path}: {problem.reason}" for problem in errors(rendered.problems)]
        return WorkloadConversion(conversion.documents, tuple(unrendered) or (f"{family} renders no workload",))
    return WorkloadConversion(conversion.documents, tuple(_differences(manifest, bodies)))


def _as_group(manifest: Object) -> Object | None:
    """Return a workload as groups of pods, the only plain workload that can be converted; None for other kinds."""
    shape, spec = shape_of(manifest), manifest["spec"]
    if shape is None or (shape.is_set and not shape.has_groups):
        return None  # each pod has a name, which other workloads cannot keep
    if shape.has_groups:
        return manifest
    metadata = {key: manifest["metadata"][key] for key in ("name", "namespace")}
    template = {"size": 1, "workerTemplate": spec["template"]}
    replicas = {"replicas": spec["replicas"]} if "replicas" in spec else {}
    return {
        "apiVersion": LEADER_WORKER_SET.api_version,
        "kind": LEADER_WORKER_SET.kind,
        "metadata": metadata,
        "spec": {**replicas, "leaderWorkerTemplate": template},
    }


def _differences(manifest: Object, rendered: list[Object]) -> Iterator[str]:
    name = _title(manifest)
    same = [body for body in rendered if _title(body) == name]
    if not same or len(rendered) > 1:
        yield f"{name} would be replaced by {', '.join(map(_title, rendered))}"
        return
    before, after = _identity(manifest), _identity(same[0])
    changed = {path: (old, new) for path, new, old in missing_parts(after, before)}
    changed |= {path: (old, new) for path, old, new in missing_parts(before, after) if path not in changed}
    for path, (old, new) in changed.items():
        yield difference_text(path, old, new)


def _title(body: Mapping[str, object]) -> str:
    metadata = body["metadata"]
    return f"{body['kind']} {metadata['name']}"  # type: ignore[index]


def _identity(body: Object) -> Object:
    """Return what must not change: the selector and the pods."""
    shape = shape_of(body)
    pods = {template.field.path: template.body for template in shape.pod_templates(body)} if shape else {}
    selector = body["spec"].get("selector")
    return {**({"spec.selector": selector} if selector else {}), **pods}
