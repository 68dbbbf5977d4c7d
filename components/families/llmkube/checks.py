"""Checks of InferenceServices of every runtime: names, labels, quantities and fields without effect."""

from collections.abc import Mapping, Sequence

from ...contract.findings.collector import Findings
from ...contract.findings.ids import RuleId
from ...contract.names import is_dns1035_label, is_label_value, is_qualified_name
from ...contract.quantity import is_quantity, parse_quantity, quantity_hint
from ...fleet.objects import Object
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
    own |= {"ephemeralStorage": resources.ephemeral_storage} if resources else {}
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
        hint = quantity_hint(text)
        findings.error(path, f"{prefix}must be a quantity of at least 0 such as 500m, 2 or 8Gi, found {text!r}{hint}")


def check_volumes(spec: InferenceServiceSpec, own: Sequence[Object], container: Object, findings: Findings) -> None:
    """Reject volumes and mounts that the API server would reject beside those of the model.

    Args:
        spec: The service.
        own: The volumes that the pod has without those of the service.
        container: The container with all mounts.
        findings: Receives the problems.
    """
    names = {volume["name"] for volume in own}
    for index, volume in enumerate(spec.extra_volumes or ()):
        if volume["name"] in names:
            reason = f"{volume['name']!r} is already a volume of the pod; choose another name"
            findings.error(f"spec.extraVolumes[{index}].name", reason, RuleId.NAMES_TAKEN)
        names.add(volume["name"])
    extra = spec.extra_volume_mounts or []
    others = container.get("volumeMounts", [])[: -len(extra) or None]
    places = {mount["mountPath"] for mount in others}
    for index, mount in enumerate(extra):
        path = f"spec.extraVolumeMounts[{index}]"
        if mount["name"] not in names:
            reason = f"no volume is named {mount['name']!r}; add it to extraVolumes"
            findings.error(f"{path}.name", reason, RuleId.REFERENCE_MISSING)
        if mount["mountPath"] in places:
            reason = f"{mount['mountPath']!r} is already a mount of the container; choose another path"
            findings.error(f"{path}.mountPath", reason, RuleId.NAMES_TAKEN)
        places.add(mount["mountPath"])


_MAC_FIELDS = ("turbo_quant_bits", "hot_cache_max_size", "paged_ssd_cache_dir", "paged_ssd_cache_max_size")


def check_ignored_fields(spec: InferenceServiceSpec, findings: Findings) -> None:
    """Warn of fields that have no effect in a cluster."""
    warn_about_duplicate_env(spec.env or (), "spec.env", findings)
    for name in _MAC_FIELDS:
        if getattr(spec, name) is not None:
            wire = InferenceServiceSpec.model_fields[name].alias
            reason = "has no effect: only oMLX reads it, which LLMKube's host agent runs on a Mac; remove it"
            findings.warn(f"spec.{wire}", reason, RuleId.FIELD_NO_EFFECT)
    endpoint = spec.endpoint
    if endpoint and endpoint.node_port is not None and endpoint.type != "NodePort":
        reason = f"has no effect: it applies to type NodePort, found {endpoint.type}; remove it"
        findings.warn("spec.endpoint.nodePort", reason, RuleId.FIELD_NO_EFFECT)
    if endpoint and endpoint.gateway and not endpoint.gateway.enabled:
        reason = "has no effect without enabled: true; set it, or remove the gateway"
        findings.warn("spec.endpoint.gateway", reason, RuleId.FIELD_NO_EFFECT)
    if spec.max_pod_lifetime_idle_timeout_seconds is not None and spec.max_pod_lifetime_seconds is None:
        reason = "has no effect without maxPodLifetimeSeconds; set it, or remove this"
        findings.warn("spec.maxPodLifetimeIdleTimeoutSeconds", reason, RuleId.FIELD_NO_EFFECT)
    rollout = spec.rollout_policy
    if rollout and not rollout.wait_for_idle:
        reason = "has no effect without waitForIdle: true; set it, or remove the policy"
        findings.warn("spec.rolloutPolicy", reason, RuleId.FIELD_NO_EFFECT)
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


def check_for_native(spec: InferenceServiceSpec, findings: Findings) -> None:
    """Reject what only LLMKube's controllers do while a service runs, and report what they would do at its start."""
    rollout = spec.rollout_policy
    if rollout and rollout.wait_for_idle and not rollout.force:
        findings.error(
            "spec.rolloutPolicy.waitForIdle",
            "only the operator watches the requests of a server, and a Deployment replaces its pods at once; remove "
            "it, or use realization 'operator'",
            RuleId.NATIVE_UNSUPPORTED,
        )
    elif rollout and rollout.wait_for_idle:
        reason = "has no effect together with force, which replaces the pods at once; remove one of the two"
        findings.warn("spec.rolloutPolicy.waitForIdle", reason, RuleId.FIELD_NO_EFFECT)
    if spec.max_pod_lifetime_seconds is not None:
        findings.error(
            "spec.maxPodLifetimeSeconds",
            "only the operator evicts pods by their age; remove it, or use realization 'operator'",
            RuleId.NATIVE_UNSUPPORTED,
        )
    if spec.slo is not None:
        findings.error(
            "spec.slo",
            "the operator creates a resource of Pyrra that reads the labels of its own monitors; remove it, or use "
            "realization 'operator'",
            RuleId.NATIVE_UNSUPPORTED,
        )
    endpoint = spec.endpoint
    if endpoint and endpoint.gateway and endpoint.gateway.enabled:
        findings.error(
            "spec.endpoint.gateway.enabled",
            "the operator attaches a route of its own to a gateway that exists already, while the front door of the "
            "environment routes to all models; remove it and set frontDoor, or use realization 'operator'",
            RuleId.NATIVE_UNSUPPORTED,
        )
    if spec.disruption and spec.disruption.protect_startup and not spec.disruption.protect_always:
        findings.warn(
            "spec.disruption.protectStartup",
            "has no effect: nothing would end the protection when the service is ready; set protectAlways to keep "
            "it, or protectStartup: false",
            RuleId.FIELD_NO_EFFECT,
        )
