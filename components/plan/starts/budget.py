"""The steps of a cold start: node, image, libraries, weights, engine and probes, each with bounds and a source."""

import functools
import math
from enum import StrEnum
from typing import Any, NamedTuple

from ...contract.quantity import GIB
from ...contract.tables import load_table


class WeightsFrom(StrEnum):
    """Where a container reads weights when it starts."""

    HUB = "hub"
    BUCKET = "bucket"
    VOLUME = "volume"
    """A claim, a local disk, or the page cache."""


class StartFacts(NamedTuple):
    """What the time of a start depends on.

    Attributes:
        engine: The engine; empty if unknown.
        new_node: Whether it waits for a node.
        new_image: Whether the node has to pull the image.
        image_gb: Compressed size of the image; None for the usual one of the engine.
        weights: Bytes of weights of a replica; None if unknown.
        weights_from: Where they come from.
        devices: Accelerators of a replica.
        layers: Layers of the model; None if unknown.
        compiled: Whether the engine finds compiled graphs.
        checks_peers: Whether the engine tests access between the devices.
        probe_delay: Initial delay of the readiness probe.
        probe_period: Its period; 0 without a readiness probe.
    """

    engine: str
    new_node: bool
    new_image: bool
    weights: int | None
    weights_from: WeightsFrom = WeightsFrom.HUB
    devices: int = 1
    layers: int | None = None
    image_gb: float | None = None
    compiled: bool = False
    checks_peers: bool = False
    probe_delay: int = 0
    probe_period: int = 0


class StartStep(NamedTuple):
    """One step of a start.

    Attributes:
        name: ``node``, ``image``, ``libraries``, ``download``, ``loading``, ``engine`` or ``probes``.
        seconds: Its time; None if unknown.
        low: Lower bound; 0 if unknown.
        high: Upper bound; None if unknown.
        source: Where the figure is from, or why there is none.
    """

    name: str
    seconds: int | None
    low: int
    high: int | None
    source: str


class _Term(NamedTuple):
    value: float
    low: float
    high: float
    source: str


class UsualImage(NamedTuple):
    """The image of an engine.

    Attributes:
        gb: Its compressed size.
    """

    gb: float
    source: str


class Saving(NamedTuple):
    """A setting that shortens cold starts.

    Attributes:
        what: The setting, in words.
        step: The step that it removes.
        seconds: Its effect.
        costs: What it costs, in words.
    """

    what: str
    step: str
    seconds: int
    costs: str


class StartBudget(NamedTuple):
    """The cold start of a replica of a workload.

    Attributes:
        steps: Its steps on a new node, or on one without the image if the environment adds no nodes.
        total: Their sum.
        warm: The sum on a node that has run the image before.
        saving: The cheapest saving that applies; None without one.
    """

    steps: tuple[StartStep, ...]
    total: StartStep
    warm: StartStep
    saving: Saving | None = None


USUAL_ENGINE = "vllm"
"""The engine that most terms were measured with."""
SOURCES_PAGE = "docs/cold-starts.md"
IN_CONTAINER = ("libraries", "download", "loading", "engine")
"""Steps after the start of the container."""


def steps_of(facts: StartFacts) -> tuple[StartStep, ...]:
    """Return the steps of a start, in order."""
    steps = []
    if facts.new_node:
        steps.append(_step("node", _term("node"), 1))
    if facts.new_image or facts.new_node:
        steps.append(_image(facts))
    steps += [_libraries(facts), *_weights(facts), _engine(facts)]
    if facts.probe_period:
        # The initial delay overlaps with the start; after both, the next probe may be a whole period away.
        running = sum(step.seconds or 0 for step in steps if step.name in IN_CONTAINER)
        waited = max(0, facts.probe_delay - running) + facts.probe_period
        steps.append(StartStep("probes", waited, 0, waited, "readinessProbe of the container"))
    return tuple(steps)


def total_of(steps: tuple[StartStep, ...]) -> StartStep:
    """Return the sum of steps, which is unknown if one of them is."""
    seconds = [step.seconds for step in steps if step.seconds is not None]
    highs = [step.high for step in steps if step.high is not None]
    unknown = [step.name for step in steps if step.seconds is None]
    return StartStep(
        name="total",
        seconds=None if unknown else sum(seconds),
        low=sum(step.low for step in steps),
        high=sum(highs) if len(highs) == len(steps) else None,
        source=f"not known: {', '.join(unknown)}" if unknown else "",
    )


def usual_images() -> dict[str, UsualImage]:
    """Return the images of known size, by engine."""
    return {name: UsualImage(float(row["value"]), str(row["source"])) for name, row in _table()["image_gb"].items()}


def _image(facts: StartFacts) -> StartStep:
    usual = usual_images().get(facts.engine)
    size = usual.gb if facts.image_gb is None and usual else facts.image_gb
    if size is None:
        return StartStep("image", None, 0, None, "the size of the image is not known")
    return _step("image", _term("image_per_gb"), size)


def _libraries(facts: StartFacts) -> StartStep:
    if facts.engine not in _table()["engines"]:
        return StartStep("libraries", None, 0, None, f"not measured with {facts.engine or 'this engine'}")
    return _step("libraries", _term("libraries_cold" if facts.new_image or facts.new_node else "libraries_warm"), 1)


def _weights(facts: StartFacts) -> tuple[StartStep, ...]:
    names = ("loading",) if facts.weights_from is WeightsFrom.VOLUME else ("download", "loading")
    if facts.weights is None:
        return tuple(StartStep(name, None, 0, None, "the size of the weights is unknown") for name in names)
    gib = facts.weights / GIB
    rates = {"download": f"{facts.weights_from}_rate", "loading": "load_rate"}
    sizes = {"download": gib, "loading": gib / max(1, facts.devices)}
    return tuple(_step(name, _per(_term(rates[name])), sizes[name]) for name in names)


def _engine(facts: StartFacts) -> StartStep:
    if facts.engine not in _table()["engines"]:
        return StartStep("engine", None, 0, None, f"not measured with {facts.engine or 'this engine'}")
    layer, compiling, usual = _term("layer"), _term("compile"), _term("layers")
    layers = (
        _Term(facts.layers, facts.layers, facts.layers, "")
        if facts.layers
        else _Term(usual.value, usual.low, usual.high, "")
    )
    more = [*(() if facts.compiled else (compiling,)), *((_term("peers"),) if facts.checks_peers else ())]
    return StartStep(
        "engine",
        round(layer.value * layers.value + sum(term.value for term in more)),
        math.floor(layer.low * layers.low + sum(term.low for term in more)),
        math.ceil(layer.high * layers.high + sum(term.high for term in more)),
        "; ".join(term.source for term in more) or layer.source,
    )


def _step(name: str, term: _Term, times: float) -> StartStep:
    low, high = math.floor(term.low * times), math.ceil(term.high * times)
    return StartStep(name, round(term.value * times), low, high, term.source)


def _per(rate: _Term) -> _Term:
    """Return the seconds per GiB of a rate."""
    return _Term(1 / rate.value, 1 / rate.high, 1 / rate.low, rate.source)


def _term(name: str) -> _Term:
    row = _table()[name]
    return _Term(float(row["value"]), float(row["low"]), float(row["high"]), str(row["source"]))


@functools.cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = load_table(__package__, "terms.yaml")
    return table
