"""Checks of InferenceServices of every runtime: names, labels, quantities and fields without effect."""

from collections.abc import Mapping

from ...contract.findings.collector import Findings
from ...contract.findings.ids import RuleId
from ...contract.names import is_dns1035_label, is_label_value, is_qualified_name
from ...contract.quantity import is_quantity, parse_quantity
from ...fleet.serving import warn_about_duplicate_env
from .hardware import MODEL_PATH
from .types.inference_service import InferenceService, InferenceServiceSpec, Model, ProbeOverrides

_HANDLERS = ("httpGet", "tcpSocket", "exec", "grpc")
_MANAGED = ("app", "inference.llmkube.dev/model", "inference.llmkube.dev/service", "inference.llmkube.dev/runtime")


def check_names(service: InferenceService, findings: Findings) -> None:
    """Reject names and labels that the rendered objects cannot have (LLMKube spec 5.5)."""
    name, spec = service.metadata.name, service.spec
    if not is_dns1035_label(name.replace(".", "-")):
        findings.error(
            "metadata.name",
            "must be at most 63 lower-case letters, digits, '-' and '.', starting with a letter, because with "
            f"dashes instead of dots it names a Service; found {name!r}",
            RuleId.NAMES_INVALID,
        )
    if not is_label_value(spec.model_ref):
        findings.error(
            MODEL_PATH,
            "becomes a label value, so it must be at most 63 letters, digits, '-', '_' and '.', found "
            f"{spec.model_ref!r}; rename the Model",
            RuleId.NAMES_INVALID,
        )
    _check_labels("spec.podLabels", spec.pod_labels or {}, findings)
    _check_labels("spec.nodeSelector", spec.node_selector or {}, findings)
    for key in spec.pod_labels or {}:
        if key in _MANAGED:
            findings.warn(
                f"spec.podLabels[{key}]",
                "has no effect: the pods already have this label; remove it",
                RuleId.FIELD_NO_EFFECT,
            )


def check_probes(spec: InferenceServiceSpec, findings: Findings) -> None:
    """Reject probes without a handler; the API server would."""
    for name, probe in (spec.probe_overrides or ProbeOverrides()).wire().items():
        if probe is not None and not any(handler in probe for handler in _HANDLERS):
            handlers = ", ".join(_HANDLERS)
            reason = f"must have one of {handlers}, found none; remove it to keep the runtime's own probe"
            findings.error(f"spec.probeOverrides.{name}", reason)


def _check_labels(path: str, labels: Mapping[str, str], findings: Findings) -> None:
    for key, value in labels.items():
        if not (is_qualified_name(key) and is_label_value(value)):
            findings.error(
                f"{path}[{key}]",
                "must be a label: key and value are at most 63 letters, digits, '-', '_' and '.', with an optional "
                f"domain and '/' before the key, found {key!r}: {value!r}",
            )


def check_quantities(spec: InferenceServiceSpec, model: Model, findings: Findings) -> None:
    """Reject amounts of cpu and memory that are not quantities; the operator would fail on them."""
    resources = spec.resources
    own = {"cpu": resources.cpu, "memory": resources.memory, "hostMemory": resources.host_memory} if resources else {}
    for field, text in own.items():
        _check_quantity(f"spec.resources.{field}", "", text, findings)
    needs = model.spec.resources
    for field, text in {"cpu": needs.cpu, "memory": needs.memory}.items() if needs else ():
        _check_quantity(MODEL_PATH, f"Model {model.metadata.name!r}: resources.{field} ", text, findings)
    if resources and resources.memory and resources.host_memory:
        findings.warn(
            "spec.resources.memory",
            "has no effect: hostMemory takes precedence; remove one of the two",
            RuleId.FIELD_OVERRIDDEN,
        )


def _check_quantity(path: str, prefix: str, text: str | None, findings: Findings) -> None:
    if text and not (is_quantity(text) and parse_quantity(text) >= 0):
        findings.error(path, f"{prefix}must be a quantity of at least 0 such as 500m, 2 or 8Gi, found {text!r}")


def check_ignored_fields(spec: InferenceServiceSpec, findings: Findings) -> None:
    """Warn of fields that have no effect in a cluster."""
    warn_about_duplicate_env(spec.env or (), "spec.env", findings)
    if spec.eviction_protection:
        findings.warn(
            "spec.evictionProtection",
            "has no effect: only LLMKube's host agent on a Mac reads it; remove it, and use a higher priority to "
            "protect pods",
            RuleId.FIELD_NO_EFFECT,
        )
    if spec.priority_class_name and "priority" in spec.model_fields_set:
        findings.warn(
            "spec.priority",
            "has no effect: priorityClassName takes precedence; remove one of the two",
            RuleId.FIELD_OVERRIDDEN,
        )
