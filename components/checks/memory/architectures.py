"""Rejects models whose architecture the engine's version does not have, so that the server exits at its start.

``architectures.csv`` has the architectures in the configurations of models. Its sources:

    configuration: the configuration that is the source of the model in ``models.csv``.
    aiconfigurator, kaito, ome: configurations and catalogs in ai-dynamo/aiconfigurator@095f58a5,
      kaito-project/kaito@056b8280 and sgl-project/ome@17b77eda.
    vllm-tests, vllm-configurations, vllm-documentation: the models with which vLLM tests each architecture
      (tests/models/registry.py), what it reads from their configurations
      (tests/config/base_model_arch_groundtruth.json), and its documentation (docs), 0.7.0 to 0.33.0.
    transformers-documentation: the documentation of the model's class in the Transformers library.
    series: no document names the architecture of this model: it is that of its siblings or of the model that it is
      made of.

Models of Mistral AI whose repositories also have a configuration in its own format (``params.json``) are left out
where the two name different architectures: since 0.12.0, vLLM prefers the latter.
"""

import functools
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem
from ...engines.architectures import ArchitectureSupport, chooses_architecture, converts, support_of
from ...engines.images import parse_image
from ...engines.registry import Engine, engines
from ...engines.scripts.commands import engine_line
from ...engines.served.names import positional
from ...engines.settings import Setting
from ...engines.versions import Version, format_version
from ...fleet.workloads import Workload
from .verdicts import WorkloadVerdict
from .workloads.known import KnownShapes


@functools.cache
def _table() -> Mapping[str, str]:
    rows = files(__package__).joinpath("architectures.csv").read_text(encoding="utf-8").splitlines()[1:]
    return {name: architecture for name, architecture, _ in (row.split(",") for row in rows)}


def architecture_of(name: str) -> str:
    """Return the architecture of a known model, or of one with the same name and another number format.

    Empty if it is unknown.
    """
    known = _table().get(name)
    if known is None:
        # Imported for models outside of the table only: many regular expressions.
        from .naming import normalized_name

        known = _by_normalized_name().get(normalized_name(name), "")
    return known


@functools.cache
def _by_normalized_name() -> Mapping[str, str]:
    from .naming import normalized_name

    return {normalized_name(name): architecture for name, architecture in _table().items()}


def check_architectures(judged: Iterable[WorkloadVerdict], shapes: KnownShapes) -> Iterator[Problem]:
    """Reject models that the version of their engine cannot run."""
    for item in judged:
        workload = item.workload
        line = engine_line(workload.server.line)
        engine = engines().get(line.engine) if line else None
        if line is None or engine is None:
            continue
        version = engine.version(line.tag)
        if not version or chooses_architecture(line):
            continue
        model = line.value_of(Setting.MODEL, Setting.MODEL_REPOSITORY) or positional(line)
        named = next((weights for weights in workload.server.weights if weights.loaded_as == model), None)
        if not model or (named and named.file):
            continue
        name = named.name if named else model
        own = next((shapes.own[key].shape for key in (model, name) if key in shapes.own), None)
        architecture = own.architecture if own else architecture_of(name)
        support = support_of(engine, architecture) if architecture else None
        if support and support.lacks(version) and not converts(engine, architecture, version):
            reason = (
                f"{engine.name} {_release(version)} cannot run {name}, whose architecture is {architecture}: "
                f"{_remedy(workload, engine, support, version)}"
            )
            yield workload.server.image.origin.problem(reason, rule=RuleId.ARCHITECTURE_UNSUPPORTED)


def _remedy(workload: Workload, engine: Engine, support: ArchitectureSupport, version: Version) -> str:
    """Return which release has the architecture, and what to set for it."""
    if support.last is not None and version > support.last:
        release = _release(support.last)
        return f"the last release that can is {release}; {_setting(workload, f'v{release}')}"
    if support.first is None or version >= support.first:
        return "no known release of the engine can; serve it with another engine"
    release = _release(support.first)
    # Prefer the release that the project itself uses by default, if it can run the model.
    current = engine.current_image
    tag = current.tag if current and not support.lacks(engine.version(current.tag)) else f"v{release}"
    return f"the first release that can is {release}; {_setting(workload, tag)}"


def _setting(workload: Workload, tag: str) -> str:
    """Return how to set the release of the engine, by its version or by the whole image."""
    image = workload.server.image
    repository = parse_image(str(workload.container["image"])).repository
    return f"set {image.origin.path} to {tag if image.is_tag else f'{repository}:{tag}'}"


def _release(version: Version) -> str:
    """Return a version with at least three numbers, as the tags of the engines' images have."""
    return format_version((*version, *(0,) * (3 - len(version))))
