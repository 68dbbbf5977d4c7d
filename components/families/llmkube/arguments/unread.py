"""Tells of fields that the chosen runtime does not read: none is dropped silently."""

from ....contract.findings.ids import RuleId
from ..serving import Serving
from ..types.model import GPUSpec
from .facts import readings


def report_unread(serving: Serving) -> None:
    """Warn of each field of the service and of its Model that is set and has no effect with the runtime."""
    written = serving.service.spec.wire()
    for name, reading in readings().items():
        if written.get(name) in (None, [], {}) or serving.runtime in reading.runtimes:
            continue
        other = reading.instead.get(serving.runtime)
        remedy = f"use {other} instead" if other else "remove it"
        readers = " and ".join(reading.runtimes)
        reason = f"has no effect: runtime {serving.runtime} does not read it, only {readers} would; {remedy}"
        serving.findings.warn(f"spec.{name}", reason, RuleId.FIELD_NO_EFFECT)
    if serving.runtime != "llamacpp":
        _report_model(serving)


def _report_model(serving: Serving) -> None:
    hardware = serving.model.spec.hardware
    gpu = (hardware.gpu if hardware else None) or GPUSpec()
    for name, value in (("layers", gpu.layers), ("sharding", gpu.sharding)):
        if value is not None:
            serving.findings.warn(
                "spec.modelRef",
                f"hardware.gpu.{name} of Model {serving.model.metadata.name!r} has no effect: runtime "
                f"{serving.runtime} does not read it, only llamacpp would; remove it there",
                RuleId.FIELD_NO_EFFECT,
            )
