"""Problems of a stack's settings that need no cluster: the same for the program and for every command."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from components.contract.findings.ids import RuleId
from components.contract.problems import Problem, Severity
from components.fleet.instances import instances_beside
from components.plan.plan import Plan

from . import PROJECT
from .clouds import CloudName
from .settings import Settings
from .stack_file import StackFile


def with_settings_problems(planned: Plan, settings: Settings, folder: Path | None) -> Plan:
    """Return a plan with the problems of the cloud's network and cluster, and with settings in terms of their file.

    Args:
        planned: The plan of manifests in the environment of the settings.
        settings: The settings.
        folder: The project folder; None if the settings are not in a file yet.
    """
    problems = _with_models(planned.problems, settings, folder) if folder else [*planned.problems]
    if settings.cloud == CloudName.AWS:
        from .cloud_args import cloud_problems

        known = {(problem.path, problem.reason) for problem in planned.problems if problem.file == settings.file}
        with instances_beside(settings.types):
            problems += [each for each in cloud_problems(settings) if (each.path, each.reason) not in known]
    file = StackFile(settings.file, folder)
    problems += _without_value(file)
    return replace(
        planned,
        problems=file.located(problems),
        ignored=tuple(
            each._replace(problem=problem)
            for each, problem in zip(
                planned.ignored, file.located(each.problem for each in planned.ignored), strict=True
            )
        ),
    )


def _without_value(file: StackFile) -> Iterator[Problem]:
    """Yield the settings that are null: the Pulumi CLI reads them as empty texts, and says that this will change."""
    for key, value in file.config().items():
        project, _, setting = str(key).rpartition(":")
        if value is None and project in ("", PROJECT):
            reason = 'has no value: Pulumi reads "" today, and null in a later release; write "", or remove the key'
            yield Problem(
                file=file.name, path=setting, reason=reason, severity=Severity.WARNING, rule=RuleId.SETTINGS
            )


def _with_models(problems: Iterable[Problem], settings: Settings, folder: Path) -> list[Problem]:
    """Return problems with the setting that names them, for models that do not exist."""
    absent = {
        str(folder / path): f"models[{position}]"
        for position, path in enumerate(settings.models)
        if not os.path.exists(folder / path)  # noqa: PTH110  Path.exists raises if the name is too long
    }

    def named() -> Iterator[Problem]:
        for problem in problems:
            path = absent.get(problem.file)
            if path is None:
                yield problem
                continue
            reason = f"{problem.file}: {problem.reason}"
            yield replace(problem, file=settings.file, line=0, path=path, reason=reason, rule=RuleId.SETTINGS)

    return list(named())
