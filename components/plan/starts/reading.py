"""What the start of a workload depends on, read from its pods."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ...checks.memory.shapes import Shape
from ...checks.memory.weights import weights_of
from ...engines.command_line import command_line_of
from ...engines.registry import engines
from ...fleet.objects import Object
from ...fleet.shapes import pod_templates
from .budget import StartFacts, WeightsFrom

DEFAULT_PERIOD, DEFAULT_FAILURES = 10, 3
"""Defaults of probes (kubernetes/kubernetes v1.36.3, pkg/apis/core/v1/defaults.go: SetDefaults_Probe)."""
_SKIPS_PEER_CHECK = (0, 11)
"""Version of vLLM in which VLLM_SKIP_P2P_CHECK is 1 by default."""
_BUCKET = re.compile("(?:s3|gs|oss|az|abfs)://")


class ProbePatience(NamedTuple):
    """How long the kubelet waits for a container before it kills it.

    Attributes:
        probe: The probe, such as ``startupProbe``.
        seconds: ``initialDelaySeconds`` and all periods until the last failure.
    """

    container: str
    probe: str
    seconds: int


def start_facts(
    body: Object, *, new_node: bool, new_image: bool, weights: int | None, devices: int = 1, layers: int | None = None
) -> StartFacts:
    """Return what the start of a replica depends on.

    Args:
        body: The workload.
        new_node: Whether it waits for a node.
        new_image: Whether its node has to pull the image.
        weights: Bytes of its weights; None if unknown.
        devices: Accelerators of a replica.
        layers: Layers of the model; None if unknown.
    """
    delay, period = _readiness(body)
    return StartFacts(
        engine=engine_in(body),
        new_node=new_node,
        new_image=new_image,
        weights=weights,
        weights_from=weights_from(body),
        devices=max(1, devices),
        layers=layers,
        checks_peers=devices > 1 and any(map(_checks_peers, _containers(body))),
        probe_delay=delay,
        probe_period=period,
    )


def shape_facts(shape: Shape | None) -> tuple[int | None, int | None]:
    """Return the bytes of the weights and the number of layers of a model; None for what is unknown."""
    if shape is None:
        return None, None
    sizes = weights_of(shape)
    return None if isinstance(sizes, str) else sizes.total, sum(layer.count for layer in shape.layers) or None


def engine_in(body: Object) -> str:
    """Return the engine of a workload; empty if unknown."""
    return next((name for container in _containers(body) if (name := command_line_of(container).engine)), "")


def _checks_peers(container: Mapping[str, Any]) -> bool:
    """Return whether an engine certainly tests access between its devices; for a tag without a version it is not."""
    line = command_line_of(container)
    engine = engines().get(line.engine)
    version = engine.version(line.tag) if engine else None
    if line.engine != "vllm" or not version or version >= _SKIPS_PEER_CHECK:
        return False
    variables = {variable.get("name"): variable.get("value") for variable in container.get("env") or ()}
    return str(variables.get("VLLM_SKIP_P2P_CHECK") or "0") == "0"


def weights_from(body: Object) -> WeightsFrom:
    """Return where the containers of a workload read weights."""
    spec = front_spec(body)
    if any("persistentVolumeClaim" in volume for volume in spec.get("volumes") or ()):
        return WeightsFrom.VOLUME
    texts = (text for container in _all_containers(spec) for text in _texts(container))
    return WeightsFrom.BUCKET if any(map(_BUCKET.search, texts)) else WeightsFrom.HUB


def downloads_before(body: Object) -> bool:
    """Return whether init containers download the weights, so that probes do not wait for them."""
    return bool(front_spec(body).get("initContainers"))


def patience_of(body: Object) -> Iterator[ProbePatience]:
    """Yield how long the kubelet waits for each container with a probe that kills it."""
    for container in _containers(body):
        # The other probes run only after the startup probe has succeeded.
        name = next((each for each in ("startupProbe", "livenessProbe") if container.get(each)), "")
        if name:
            probe = container[name]
            period = int(probe.get("periodSeconds") or DEFAULT_PERIOD)
            failures = int(probe.get("failureThreshold") or DEFAULT_FAILURES)
            waited = int(probe.get("initialDelaySeconds") or 0) + period * failures
            yield ProbePatience(str(container.get("name", "")), name, waited)


def front_spec(body: Object) -> Object:
    front = next(iter(pod_templates(body)), None)
    spec: Object = (front.body.get("spec") if front else None) or {}
    return spec


def _containers(body: Object) -> list[Object]:
    return list(front_spec(body).get("containers") or ())


def _all_containers(spec: Object) -> list[Object]:
    return [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]


def _texts(container: Mapping[str, Any]) -> Iterator[str]:
    for field in ("command", "args"):
        yield from map(str, container.get(field) or ())
    yield from (str(variable.get("value") or "") for variable in container.get("env") or ())


def _readiness(body: Object) -> tuple[int, int]:
    probes = [probe for container in _containers(body) if (probe := container.get("readinessProbe"))]
    if not probes:
        return 0, 0
    delay = max(int(probe.get("initialDelaySeconds") or 0) for probe in probes)
    return delay, max(int(probe.get("periodSeconds") or DEFAULT_PERIOD) for probe in probes)
