"""Facts about LLMKube's pods by runtime, hardware and priority."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ...contract.tables import load_table
from ...engines.registry import engines
from ...fleet.words import Edition

CPU = "cpu"
"""The hardware of pods without accelerators."""


@dataclass(frozen=True, slots=True)
class LlmkubeRuntime:
    """One server that an InferenceService can run.

    Attributes:
        container: Name of its container.
        port: Default port.
        health: Path of the probes; empty if they check the port only.
        api: API that clients use.
        metric: Default metric of the autoscaler; empty if the server exports none.
        engine: Name of its engine.
        loads: Whether an init container fetches the model.
        folders: Whether it loads a folder of files.
        ready: Path of the startup and readiness probes, if it is not that of ``health``.
        shared_memory: Whether the processes of several GPUs communicate through ``/dev/shm``.
        service_links: Whether the pod gets environment variables of the namespace's Services.
        formats: Formats of a Model that it reads; empty if unknown.
        cache: Variables that direct the server's own downloads to ``{folder}``.
        images: By edition and hardware; hardware without a known build is missing.
    """

    name: str
    container: str
    port: int
    api: str
    engine: str = ""
    health: str = ""
    ready: str = ""
    metric: str = ""
    loads: bool = False
    folders: bool = False
    shared_memory: bool = False
    service_links: bool = True
    formats: tuple[str, ...] = ()
    cache: Mapping[str, str] = field(default_factory=dict)
    images: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def image(self, edition: Edition, hardware: str) -> str | None:
        """Return the default image for a vendor's accelerators or ``cpu``; None if no build is known."""
        return self.images.get(edition, {}).get(hardware)


@dataclass(frozen=True, slots=True)
class PriorityClass:
    """A PriorityClass of the operator's chart."""

    value: int
    preemption: str


@dataclass(frozen=True, slots=True)
class CacheClaim:
    """The claim in which the services of a namespace keep their models; ``size`` is a quantity."""

    name: str
    labels: Mapping[str, str]
    access: str
    size: str


@dataclass(frozen=True, slots=True)
class LlmkubeFacts:
    """Everything in the table.

    Attributes:
        resources: Extended resource by vendor.
        accelerators: Vendor by the accelerator's name in a Model.
        operator_images: By runtime, the operator's images by hardware, and the release ``since`` which it has them.
        render_device: Extended resource of render devices.
        mig_prefix: Prefix of the extended resources of MIG devices.
        undisrupted: Annotations that keep Karpenter from evicting a pod.
        probes: Periods and thresholds of each probe, in wire names.
        fs_group: Group that may write volumes.
        loader_image: Image of the init container.
        scripts: Parts of its script, by name.
    """

    runtimes: Mapping[str, LlmkubeRuntime]
    resources: Mapping[str, str]
    accelerators: Mapping[str, str]
    operator_images: Mapping[str, Mapping[str, str]]
    render_device: str
    mig_prefix: str
    undisrupted: Mapping[str, str]
    probes: Mapping[str, Mapping[str, int]]
    fs_group: int
    priorities: Mapping[str, PriorityClass]
    claim: CacheClaim
    loader_image: str
    scripts: Mapping[str, str]


@functools.cache
def llmkube() -> LlmkubeFacts:
    """Return the table."""
    rows: dict[str, Any] = load_table(__package__, "facts.yaml")
    scripts = dict(rows["loader"])
    image = scripts.pop("image")
    return LlmkubeFacts(
        runtimes=MappingProxyType({name: _runtime(name, facts) for name, facts in rows["runtimes"].items()}),
        resources=MappingProxyType(rows["resources"]),
        accelerators=MappingProxyType(rows["accelerators"]),
        operator_images=MappingProxyType(rows["operator_images"]),
        render_device=rows["render_device"],
        mig_prefix=rows["mig_prefix"],
        undisrupted=MappingProxyType(rows["undisrupted"]),
        probes=MappingProxyType(rows["probes"]),
        fs_group=rows["fs_group"],
        priorities=MappingProxyType({name: PriorityClass(**facts) for name, facts in rows["priorities"].items()}),
        claim=CacheClaim(**rows["claim"]),
        loader_image=image,
        scripts=MappingProxyType(scripts),
    )


def _runtime(name: str, facts: dict[str, Any]) -> LlmkubeRuntime:
    facts = {"engine": name, **facts, "formats": tuple(facts.get("formats", ()))}
    engine = engines().get(facts["engine"])
    if engine:
        pinned = {Edition.CURRENT: engine.current} if engine.current else {}
        facts = {"port": engine.port, "health": engine.health, **facts}
        facts["images"] = {Edition.UPSTREAM: facts.get("images", {}), **pinned} if "images" in facts else {}
    return LlmkubeRuntime(name, **facts)
