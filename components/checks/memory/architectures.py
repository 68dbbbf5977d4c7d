"""Rejects models whose architecture the engine's version does not have, so that the server exits at its start."""

from collections.abc import Iterable, Iterator

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity
from ...engines.architectures import ArchitectureSupport, chooses_architecture, converts, runs_others, support_of
from ...engines.command_line import CommandLine
from ...engines.images import parse_image
from ...engines.lint import lint
from ...engines.registry import Engine, engines
from ...engines.scripts.commands import engine_line
from ...engines.served.names import positional
from ...engines.settings import Setting
from ...engines.versions import Version, format_version
from ...fleet.workloads import Workload
from .architecture_names import architecture_of, architecture_of_file
from .verdicts import WorkloadVerdict
from .workloads.known import KnownShapes


def check_architectures(judged: Iterable[WorkloadVerdict], shapes: KnownShapes) -> Iterator[Problem]:
    """Reject models that the version of their engine cannot run."""
    for item in judged:
        workload = item.workload
        line = engine_line(workload.server.line)
        engine = engines().get(line.engine) if line else None
        if line is None or engine is None:
            continue
        version = engine.version(line.tag)
        if not version or chooses_architecture(line) or runs_others(engine, line.tag):
            continue
        name, architecture = served_architecture(workload, line, shapes)
        if not architecture or _runs_own_code(workload, engine):
            continue
        support = support_of(engine, architecture)
        if support and support.lacks(version) and not converts(engine, architecture, version):
            reason = (
                f"{engine.name} {engine.release(version)} cannot run {name}, whose architecture is {architecture}: "
                f"{_remedy(workload, engine, support, version)}"
            )
            yield workload.server.image.origin.problem(reason, rule=RuleId.ARCHITECTURE_UNSUPPORTED)


def served_architecture(workload: Workload, line: CommandLine, shapes: KnownShapes) -> tuple[str, str]:
    """Return the name and the architecture of the model that a server loads; empty if they are unknown."""
    settings = workload.memory_settings
    model = line.value_of(Setting.MODEL, Setting.MODEL_REPOSITORY) or positional(line)
    if not model and not isinstance(settings, str):
        model = settings.model  # set by a variable
    if not model:
        return "", ""
    named = next((weights for weights in workload.server.weights if weights.loaded_as == model), None)
    name = named.name if named else model
    own = next((shapes.own[key].shape for key in (model, name) if key in shapes.own), None)
    architecture = own.architecture if own else architecture_of(name)
    if not architecture and (engines()[line.engine].builds or (named and named.file)):
        texts = (named.file, named.name, model) if named else (model,)
        architecture = next(filter(None, map(architecture_of_file, texts)), "")
    return name, architecture


def _runs_own_code(workload: Workload, engine: Engine) -> bool:
    """Return whether a variable lets the engine run the code in the repository of a model."""
    variable = engine.own_code_variable
    return bool(variable) and any(entry["name"] == variable for entry in workload.container.get("env") or ())


def _remedy(workload: Workload, engine: Engine, support: ArchitectureSupport, version: Version) -> str:
    """Return which release has the architecture, and what to set for it."""
    image_tag = parse_image(str(workload.container["image"])).tag
    if support.last is not None and version > support.last:
        release, tag = engine.release(support.last), engine.release_tag(support.last, image_tag)
        return f"the last release that can is {release}; {tag_step(workload, tag)}"
    if support.first is None or version >= support.first:
        return "no known release of the engine can; serve it with another engine"
    release = engine.release(support.first)
    # Prefer the release that the project itself uses by default, if it can run the model with these arguments.
    current = engine.current_image
    is_able = current is not None and not support.lacks(engine.version(current.tag))
    line = engine_line(workload.server.line) or workload.server.line
    tag = engine.release_tag(support.first, image_tag)
    if current and is_able and _accepts(line, current.tag) and not engine.builds:
        tag = current.tag
    return f"the first release that can is {release}; {tag_step(workload, tag)}"


def release_step(workload: Workload, release: Version) -> str:
    """Return how to set a release of the engine."""
    return tag_step(workload, f"v{format_version((*release, *(0,) * (3 - len(release))))}")


def _accepts(line: CommandLine, tag: str) -> bool:
    """Return whether another release rejects no argument that the one of a line accepts."""
    other = line.with_tag(tag)
    rejected, before = ([found for found in lint(each) if found.severity is Severity.ERROR] for each in (other, line))
    return len(rejected) <= len(before)


def tag_step(workload: Workload, tag: str) -> str:
    """Return how to set the tag of the image, alone or with its repository."""
    image = workload.server.image
    repository = parse_image(str(workload.container["image"])).repository
    return f"set {image.origin.written} to {tag if image.is_tag else f'{repository}:{tag}'}"
