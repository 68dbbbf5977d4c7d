"""Which engine a pod runs, and whether it exports metrics there."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..api.llmaz import BackendRuntimeConfig, Playground
from ..api.llmkube import InferenceService
from ..api.load import Loaded
from ..catalog.metrics import NONE, PROMETHEUS, EngineMetrics, Metric, engine_metrics
from ..catalog.runtimes import engine_of, engines
from .loaders import RUNNER
from .types import Object

_SHELLS = ("sh", "bash", "ash", "dash", "zsh")
_RUNS_TEXT = re.compile(r"-[a-z]*c")
_FALSE = ("", "0", "false", "off")


@dataclass(frozen=True, slots=True)
class Serving:
    """The container that serves the model.

    Attributes:
        facts: What its engine exports; None for an engine that nothing is known of.
        tag: The tag of its image, which names the engine's version.
        position: Where it stands among the containers of the pod.
    """

    container: Object
    facts: EngineMetrics | None
    tag: str
    position: int

    @property
    def line(self) -> str:
        """Command and arguments in one text; a shell script is one of the words."""
        return " ".join(map(str, [*(self.container.get("command") or []), *(self.container.get("args") or [])]))

    @property
    def is_script(self) -> bool:
        """Whether a shell runs it: what is appended to the arguments then never reaches the engine."""
        words = [*(self.container.get("command") or []), *(self.container.get("args") or [])][:3]
        return bool(words) and words[0].rpartition("/")[2] in _SHELLS and any(map(_RUNS_TEXT.fullmatch, words[1:]))

    @property
    def is_on(self) -> bool:
        """Whether the engine exports metrics as it is started."""
        facts = self.facts
        if facts is None or facts.exports != PROMETHEUS or self.is_off:
            return False
        return facts.flag is None or holds(self.line, facts.flag) or self._by_variable(facts.env)

    @property
    def is_off(self) -> bool:
        """Whether an argument turns the metrics off."""
        return bool(self.facts and self.facts.off and holds(self.line, self.facts.off))

    @property
    def is_known(self) -> bool:
        """Whether it is known which metrics there are, be it none at all."""
        return self.facts is not None and self.facts.exports in (PROMETHEUS, NONE)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics of the engine's version."""
        return self.facts.of_version(self.tag) if self.facts else ()

    def _by_variable(self, name: str | None) -> bool:
        found: Object = next((env for env in self.container.get("env") or [] if name and env.get("name") == name), {})
        return str(found.get("value", "")).lower() not in _FALSE


def serving_of(spec: Object, source: Loaded) -> Serving:
    """Return the serving container of a pod: the model runner, else one with a known engine, else the first."""
    containers: list[Object] = spec["containers"]
    named = [position for position, container in enumerate(containers) if container["name"] == RUNNER]
    known = [position for position, container in enumerate(containers) if engine_of(image_of(container)[0])]
    position = (named or known or [0])[0]
    repository, tag = image_of(containers[position])
    # A private mirror may rename the image; a runtime named after an engine still says which one it is.
    engine = engine_of(repository) or engines().get(_backend_name(source))
    return Serving(containers[position], engine_metrics().get(engine.name) if engine else None, tag, position)


def image_of(container: Object) -> tuple[str, str]:
    """Split an image into repository and tag; the tag is empty where there is none."""
    image = str(container.get("image") or "").partition("@")[0]
    folder, slash, name = image.rpartition("/")
    name, _, tag = name.partition(":")
    return folder + slash + name, tag


def holds(line: str, flag: str) -> bool:
    """Tell whether a command line has a flag, with a value or without."""
    return re.search(rf"(?:^|\s){re.escape(flag)}(?=[\s=]|$)", line) is not None


def value_of(line: str, flags: Iterable[str]) -> str | None:
    """Return the value that a command line gives to the last of some flags."""
    words = "|".join(map(re.escape, flags))
    found: list[Any] = re.findall(rf"(?:^|\s)(?:{words})(?:=|\s+)(\S+)", line)
    return found[-1] if found else None


def _backend_name(source: Loaded) -> str:
    resource = source.resource
    if isinstance(resource, InferenceService):
        return resource.spec.runtime
    if not isinstance(resource, Playground):
        return ""
    return (resource.spec.backend_runtime_config or BackendRuntimeConfig()).backend_name
