"""The accelerators that the pods of an InferenceService request, and their nodes (LLMKube spec 4.2)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ...contract.findings.collector import Findings
from ...contract.findings.ids import RuleId
from ...contract.quantity import GIB, is_quantity, parse_quantity
from ...fleet.demand import INSTANCE_TYPE_LABEL, TYPE_LABELS, NodeChoice, NodeField, instance_type_in
from ...fleet.instances import instance
from ...fleet.objects import Object
from ...fleet.options import Options
from ...fleet.origins import Origin
from ...fleet.placement import taints
from .facts import CPU, llmkube
from .types.inference_service import InferenceServiceSpec, Model
from .types.model import GPUSpec, HardwareSpec

MODEL_PATH = "spec.modelRef"
"""Field at which problems of the Model are reported, since one Model may serve several InferenceServices."""
NODES_PATH = "spec.nodeSelector"
"""Field that chooses nodes."""
AFFINITY_PATH = "spec.affinity"
_MIG_PROFILE = re.compile(r"[0-9]+g\.[0-9]+gb")
_FEWER = "request at most {count} GPUs in the Model's hardware.gpu.count, with as much parallelism"
_GB = 10**9


@dataclass(frozen=True, slots=True)
class Hardware:
    """Accelerators of one pod.

    Attributes:
        gpus: Number of accelerators.
        vendor: ``nvidia``, ``amd`` or ``intel``, even without accelerators.
        runtime: ``vulkan`` or ``rocm`` if the Model chooses the computing interface of AMD's; else empty.
        resource: Extended resource of one accelerator.
        toleration_key: Taint of their nodes that the pods tolerate.
        claims: Claims of Dynamic Resource Allocation, in wire form.
    """

    gpus: int
    vendor: str
    runtime: str
    resource: str
    toleration_key: str
    claims: tuple[Object, ...] = ()

    @property
    def kind(self) -> str:
        """Hardware that an image must be built for: a vendor, AMD's computing interface, or ``cpu``."""
        return (self.runtime or self.vendor) if self.gpus or self.claims else CPU


def hardware_of(spec: InferenceServiceSpec, model: Model, findings: Findings) -> Hardware:
    """Return the accelerators of a pod; the Model's number takes precedence over the service's.

    Raises:
        Unrenderable: the Model is for a Mac; it is in ``findings``.
    """
    hardware = model.spec.hardware or HardwareSpec()
    gpu = hardware.gpu or GPUSpec()
    gpus = gpu.count or (spec.resources.gpu if spec.resources else None) or 0
    # The operator requests NVIDIA's resource on AMD too.
    vendor = llmkube().accelerators.get(hardware.accelerator, gpu.vendor)
    if hardware.accelerator == "vulkan" and "vendor" in gpu.model_fields_set:
        vendor = gpu.vendor  # Vulkan runs on every vendor's accelerators
    subject = f"Model {model.metadata.name!r}: hardware"
    if hardware.accelerator == "metal":
        raise findings.fail(
            MODEL_PATH,
            f"{subject}.accelerator is metal, which runs on a Mac under LLMKube's host agent, not in a cluster; set "
            "accelerator to cuda, rocm, intel, vulkan or cpu",
            RuleId.NATIVE_UNSUPPORTED,
        )
    if "vendor" in gpu.model_fields_set and gpu.vendor != vendor:
        findings.error(
            MODEL_PATH,
            f"{subject}.accelerator is {hardware.accelerator}, but hardware.gpu.vendor is {gpu.vendor}; make them "
            "match",
            RuleId.GPUS_CONTRADICTED,
        )
    if gpus and gpu.enabled is False:
        findings.warn(
            MODEL_PATH,
            f"{subject}.gpu.enabled is false but has no effect, because {gpus} GPUs are requested; remove it, or the "
            "number of GPUs",
            RuleId.FIELD_NO_EFFECT,
        )
    if not gpus and not gpu.resource_claims and (gpu.enabled or hardware.accelerator in llmkube().accelerators):
        findings.warn(
            MODEL_PATH,
            f"{subject} names GPUs without a count, so none are requested; set gpu.count",
            RuleId.GPUS_ABSENT,
        )
    for name in ("memory_budget", "memory_fraction"):
        if getattr(hardware, name) is not None:
            wire = HardwareSpec.model_fields[name].alias
            findings.warn(
                MODEL_PATH,
                f"{subject}.{wire} has no effect: only LLMKube's host agent on a Mac reads it; remove it",
                RuleId.FIELD_NO_EFFECT,
            )
    if spec.resources and spec.resources.gpu and spec.resources.gpu != gpus:
        reason = (
            f"has no effect: Model {model.metadata.name!r} requests {gpus}, which takes precedence; remove one of "
            "the two"
        )
        findings.warn("spec.resources.gpu", reason, RuleId.FIELD_OVERRIDDEN)
    runtime = _computing_interface(hardware, gpu, vendor, subject, findings)
    default = llmkube().render_device if runtime else llmkube().resources[vendor]
    resource = _shared_resource(spec, gpus, vendor, gpu.resource_name or default, findings)
    _check_claims(spec, gpus, gpu, subject, findings)
    return Hardware(
        gpus=gpus,
        vendor=vendor,
        runtime=runtime,
        resource=resource,
        toleration_key=gpu.toleration_key or resource,
        claims=tuple(claim.wire() for claim in gpu.resource_claims or ()),
    )


def _computing_interface(hardware: HardwareSpec, gpu: GPUSpec, vendor: str, subject: str, findings: Findings) -> str:
    """Return ``vulkan`` or ``rocm`` if a Model chooses it for AMD's accelerators; else an empty string."""
    chosen = gpu.runtime or ("vulkan" if hardware.accelerator == "vulkan" else "")
    if vendor == "amd":
        return chosen
    if gpu.runtime:
        findings.warn(
            MODEL_PATH,
            f"{subject}.gpu.runtime {gpu.runtime} has no effect: only vendor amd has a choice, found {vendor}; "
            "remove it",
            RuleId.FIELD_NO_EFFECT,
        )
    return ""


def _shared_resource(spec: InferenceServiceSpec, gpus: int, vendor: str, resource: str, findings: Findings) -> str:
    """Return the extended resource of the service's way to share accelerators, from that of whole ones."""
    sharing = spec.resources.gpu_sharing if spec.resources else None
    if sharing is None or sharing.mode == "exclusive":
        return resource
    path = "spec.resources.gpuSharing"
    if gpus != 1:
        findings.error(
            f"{path}.mode",
            f"{sharing.mode} requires exactly 1 GPU, found {gpus}; request one, or use mode exclusive",
            RuleId.GPUS_MISMATCH,
        )
    if sharing.mode == "shared":
        # One device of AMD's plugin is shared by design; of others, the operator's settings name the nodes.
        if vendor != "amd":
            findings.error(
                f"{path}.mode",
                "shared runs on the pool of nodes that the operator's gpuSharing.pools.shared.nodeSelector names; "
                "use mode exclusive, or realization 'operator'",
                RuleId.NATIVE_UNSUPPORTED,
            )
        elif sharing.memory_limit_gib is not None:
            reason = "has no effect on pods: the operator counts it against a GPUQuota only; remove it"
            findings.warn(f"{path}.memoryLimitGiB", reason, RuleId.FIELD_NO_EFFECT)
        return resource
    if vendor != "nvidia":
        findings.error(
            f"{path}.mode",
            f"partitioned divides NVIDIA's GPUs (MIG), but the Model's vendor is {vendor}; use mode exclusive",
            RuleId.GPUS_CONTRADICTED,
        )
    profile = (sharing.profile or "").strip()
    if _MIG_PROFILE.fullmatch(profile) is None:
        reason = f"must be a MIG profile such as 1g.24gb, found {sharing.profile!r}"
        findings.error(f"{path}.profile", reason, RuleId.GPUS_CONTRADICTED)
    return f"{llmkube().mig_prefix}{profile}"


def _check_claims(spec: InferenceServiceSpec, gpus: int, gpu: GPUSpec, subject: str, findings: Findings) -> None:
    """Report what cannot be combined with claims of Dynamic Resource Allocation, and that they are not checked."""
    if not gpu.resource_claims:
        return
    if gpu.resource_name is not None:
        findings.error(
            MODEL_PATH,
            f"{subject}.gpu has resourceName and resourceClaims, of which only one can apply; remove one of the two",
            RuleId.GPUS_CONTRADICTED,
        )
    sharing = spec.resources.gpu_sharing if spec.resources else None
    if sharing and sharing.mode != "exclusive":
        findings.error(
            "spec.resources.gpuSharing.mode",
            f"{sharing.mode} cannot be combined with hardware.gpu.resourceClaims, which choose the devices; use mode "
            "exclusive, or remove them",
            RuleId.GPUS_CONTRADICTED,
        )
    if not gpus:
        findings.warn(
            MODEL_PATH,
            f"{subject}.gpu.resourceClaims request devices whose number and memory are unknown here, so it is not "
            "checked whether a node has them or the model fits; set gpu.count too if a device plugin offers them",
            RuleId.NATIVE_DIFFERS,
        )


# -- nodes


def node_choices(
    selector: Mapping[str, str], affinity: Object | None, options: Options, origin: Origin
) -> tuple[NodeChoice, ...]:
    """Return the nodes that a selector, or else a required node affinity, matches; none without either.

    Args:
        selector: Node selector of the pods.
        affinity: Their affinity, in wire form.
        options: Rendering options.
        origin: The field with the selector.
    """
    name = instance_type_in(selector)
    by_affinity = () if name else _choices_of(affinity or {}, selector, Origin(origin.source, AFFINITY_PATH))
    if by_affinity or not selector:
        return by_affinity
    others = {key: value for key, value in sorted(selector.items()) if key != INSTANCE_TYPE_LABEL}
    # Other labels may name the type as well, but then the pod cannot move to alternatives.
    free = name if INSTANCE_TYPE_LABEL in selector else None
    field = node_field(origin)
    return (NodeChoice("nodeSelector", name, others, options.alternatives.get(free or "", ()), field),)


def _choices_of(affinity: Object, selector: Mapping[str, str], origin: Origin) -> tuple[NodeChoice, ...]:
    """Return the instance types that the terms of a required node affinity name, in their order."""
    required = (affinity.get("nodeAffinity") or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    choices: list[NodeChoice] = []
    for term in required.get("nodeSelectorTerms") or ():
        values: dict[str, list[str]] = {}
        for expression in term.get("matchExpressions") or ():
            if expression.get("operator") == "In":
                values[expression["key"]] = [str(value) for value in expression.get("values") or ()]
        label = next((label for label in TYPE_LABELS if label in values), None)
        if label is None:
            return ()  # pods may run on nodes of a type that nothing names
        types = values.pop(label)
        single = {key: accepted[0] for key, accepted in values.items() if len(accepted) == 1}
        for name in types:
            choice = NodeChoice("affinity", name, {**selector, **single}, (), node_field(origin))
            if choice not in choices:
                choices.append(choice)
    return tuple(choices)


def node_field(origin: Origin) -> NodeField:
    """Return the field that chooses nodes, with the remedies for its messages."""
    return NodeField(origin, INSTANCE_TYPE_LABEL, _FEWER)


def check_nodes(
    spec: InferenceServiceSpec, model: Model, hardware: Hardware, choices: tuple[NodeChoice, ...], findings: Findings
) -> None:
    """Report accelerators without an instance type, and GPUs with too little memory."""
    name = choices[0].instance_type if choices else None
    if hardware.gpus and not name:
        findings.warn(
            NODES_PATH,
            f"the pod requests {hardware.gpus} {hardware.resource} but does not select an instance type, so it gets "
            f"no node group and its price is unknown; add {{{INSTANCE_TYPE_LABEL}: ...}}",
            RuleId.NODES_TYPE_UNNAMED,
        )
    resources = spec.resources
    gpu = model.spec.hardware.gpu if model.spec.hardware else None
    for path, text in (
        ("spec.resources.gpuMemory", resources.gpu_memory if resources else None),
        (MODEL_PATH, gpu.memory if gpu else None),
    ):
        prefix = f"Model {model.metadata.name!r}: hardware.gpu.memory " if path == MODEL_PATH else ""
        if text and not is_quantity(text):
            findings.error(path, f"{prefix}must be a quantity such as 16Gi, found {text!r}")
        elif text:
            _check_memory(path, prefix, text=text, hardware=hardware, name=name, findings=findings)


def _check_memory(
    path: str, prefix: str, text: str, hardware: Hardware, name: str | None, findings: Findings
) -> None:
    # The field has no other effect.
    if not hardware.gpus:
        findings.warn(
            path,
            f"{prefix}has no effect: no GPUs are requested; set their number, or remove it",
            RuleId.FIELD_NO_EFFECT,
        )
        return
    node = instance(name or "")
    if node is None or node.accelerator_memory_gib is None:
        return
    # Compare with the marketed size: a GPU of 24 GB has 22.4Gi, but users write 24Gi.
    size_gb = round(node.accelerator_memory_gib * GIB / _GB)
    if parse_quantity(text) > size_gb * hardware.gpus * GIB:
        findings.error(
            path,
            f"{prefix}is {text}, but the {hardware.gpus} {node.accelerator} of {name} have only {size_gb} GB each; "
            "request more or larger GPUs",
            RuleId.MEMORY_EXCEEDED,
        )


def tolerations_of(hardware: Hardware, choices: tuple[NodeChoice, ...]) -> list[Object]:
    """Return tolerations for the taints of the pod's nodes, with any value."""
    keys = [hardware.toleration_key] if hardware.gpus else []
    keys += [taint["key"] for choice in choices for taint in taints(choice.instance_type)]
    return [{"key": key, "operator": "Exists", "effect": "NoSchedule"} for key in dict.fromkeys(keys)]
