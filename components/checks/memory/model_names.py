"""Warns about names of models that misspell known ones."""

from collections.abc import Iterable, Iterator, Mapping

from ...contract.findings.ids import RuleId
from ...contract.load import LoadedResource
from ...contract.problems import Problem, Severity, field_path
from .verdicts import WorkloadVerdict

_MOST_VALUES = 100_000
"""Values of a manifest that are searched for a name."""


def check_names(judged: Iterable[WorkloadVerdict], resources: Iterable[LoadedResource]) -> Iterator[Problem]:
    """Warn about names of models that misspell known ones, at the field with the name."""
    resources = tuple(resources)
    reported = set()
    for item in judged:
        shape = item.verdict.asked.shape if item.verdict.asked else None
        if shape is not None and not shape.estimate:
            continue
        candidates = [weights.name for weights in item.workload.server.weights if not weights.file]
        candidates += [shape.name] if shape else []
        has_sources = any("/" in weights.name for weights in item.workload.server.weights)
        for candidate in dict.fromkeys(candidates):
            name = candidate if candidate.startswith("http") else candidate.rpartition("://")[2]
            if "/" not in name and has_sources:
                continue  # the last part of a path, a bucket or a volume, which needs no owner
            # Most models are in the catalog.
            from .misspelling import misspelled

            near = misspelled(name)
            if not near:
                continue
            reason = (
                f"no known model is named {name!r}; did you mean {near!r}? Correct it, or ignore this if the model "
                "exists"
            )
            places = [
                (resource, path) for resource in resources if (path := _path_of(name, resource.resource.wire()))
            ]
            problems = [
                resource.problem(path, reason, Severity.WARNING, RuleId.NAME_MISSPELLED) for resource, path in places
            ]
            problems = problems or [item.workload.origin.problem(reason, Severity.WARNING, RuleId.NAME_MISSPELLED)]
            yield from (problem for problem in problems if problem not in reported)
            reported.update(problems)


def _path_of(name: str, wire: Mapping[str, object]) -> str:
    """Return the first field whose value names a model, or a URL of it; empty without one."""
    waiting: list[tuple[tuple[str | int, ...], object]] = [((), wire)]
    for _ in range(_MOST_VALUES):
        if not waiting:
            break
        path, value = waiting.pop()
        if isinstance(value, str) and (value == name or value.endswith((f"://{name}", f"={name}"))):
            return field_path(path)
        if isinstance(value, dict):
            waiting += [((*path, key), inner) for key, inner in reversed(value.items())]
        elif isinstance(value, list):
            waiting += [((*path, index), inner) for index, inner in reversed([*enumerate(value)])]
    return ""
