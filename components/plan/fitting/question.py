"""The question: a model, the engine that serves it, and the load."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ...checks.memory.workloads.known import KnownShapes
from ...engines.command_line import CommandLine
from ...engines.images import parse_image
from ...engines.registry import Engine, engines
from ...engines.settings import Setting
from ..costs.prices import OwnPrices

_ENGINE = re.compile(r"(?P<name>[a-z][a-z0-9.-]*?)(?:==v?(?P<version>[a-z0-9][\w.-]*))?", re.IGNORECASE)
_VERSION = re.compile(r"\bb[0-9]+|[0-9]+(\.[0-9]+)+")
"""The version in the tag of an image."""
_VENDOR = "nvidia"
"""Vendor of the accelerators whose images have a version to choose."""


class EngineChoice(NamedTuple):
    """An engine and its version.

    Attributes:
        tag: Tag of its image, which determines the version.
    """

    engine: Engine
    repository: str
    tag: str

    @property
    def title(self) -> str:
        return f"{self.engine.name} {self.tag.removeprefix('v')}"


@dataclass(frozen=True, slots=True)
class FitQuestion:
    """A model, and how it is served.

    Attributes:
        model: Name that its server loads.
        known: Shapes of models that the catalog does not have.
        context: Tokens of a request with its answer; None for the model's own limit.
        quantization: Method by which the engine quantizes the weights while it loads them; empty for none.
        args: Further flags of the engine.
        users: Requests at once, each of the whole context; None for as many as one replica has room for.
        region: Region of the prices.
        prices: Prices that take precedence over those of the cloud.
    """

    model: str
    serving: EngineChoice
    region: str
    known: KnownShapes = field(default_factory=KnownShapes)
    context: int | None = None
    quantization: str = ""
    args: tuple[str, ...] = ()
    users: int | None = None
    prices: OwnPrices = field(default_factory=OwnPrices)

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags of the engine, without the model and parallelism."""
        engine = self.serving.engine
        values = ((Setting.CONTEXT, self.context), (Setting.QUANTIZATION, self.quantization or None))
        flags = [(engine.flag(setting), value) for setting, value in values if value is not None]
        return (*(word for flag, value in flags if flag for word in (flag, str(value))), *self.args)

    def line(self, tensor: int, pipeline: int) -> CommandLine:
        """Return the command line of a server, with some parallelism."""
        engine, model = self.serving.engine, self.serving.engine.flag(Setting.MODEL)
        degrees = ((Setting.TENSOR_PARALLEL, tensor), (Setting.PIPELINE_PARALLEL, pipeline))
        spread = [(engine.flag(setting), degree) for setting, degree in degrees if degree > 1]
        words = [model, self.model] if model else [self.model]
        words += [word for flag, degree in spread if flag for word in (flag, str(degree))]
        return CommandLine(engine.name, self.serving.tag, (*words, *self.flags))


def engine_choice(text: str) -> EngineChoice | str:
    """Return an engine by name or ``name==version``, or a message; without a version that of the current image."""
    match = _ENGINE.fullmatch(text.strip())
    engine = engines().get(match["name"].lower()) if match else None
    current = engine.current.get(_VENDOR) if engine else None
    if match is None or engine is None or current is None:
        known = ", ".join(name for name, other in engines().items() if _VENDOR in other.current)
        return f"must be an engine, or engine==version, found {text!r}; engines: {known}"
    image = parse_image(current)
    version = match["version"]
    if version is None:
        return EngineChoice(engine, image.repository, image.tag)
    tag = _VERSION.sub(version, image.tag, count=1)
    if engine.version(tag) is None:
        return f"must be engine==version, such as {engine.name}=={image.tag.removeprefix('v')}, found {text!r}"
    return EngineChoice(engine, image.repository, tag)


def split_args(args: Sequence[str]) -> tuple[str, ...]:
    """Split further flags at the first equals sign or space, so that each word is one argument."""
    words: list[str] = []
    for arg in args:
        flag, separator, value = re.match(r"([^\s=]+)([\s=]?)(.*)", arg, re.DOTALL).groups()  # type: ignore[union-attr]
        words += [flag, value] if separator else [flag]
    return tuple(words)
