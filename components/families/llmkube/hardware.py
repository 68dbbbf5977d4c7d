"""The accelerators that the pods of an InferenceService request, and their nodes (LLMKube spec 4.2)."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from ...contract.findings.collector import Findings
from ...contract.findings.ids import RuleId
from ...contract.quantity import is_quantity, parse_quantity
from ...fleet.demand import INSTANCE_TYPE_LABEL, NodeChoice, NodeField, instance_type_in
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
_FEWER = "request at most {count} GPUs in the Model's hardware.gpu.count"
_GIB, _GB = Decimal(2**30), Decimal(10**9)


@dataclass(frozen=True, slots=True)
class Hardware:
    """Accelerators of one pod.

    Attributes:
        gpus: Number of accelerators.
        vendor: ``nvidia``, ``amd`` or ``intel``, even without accelerators.
    """

    gpus: int
    vendor: str

    @property
    def resource(self) -> str:
        """Extended resource of one accelerator."""
        return llmkube().resources[self.vendor]

    @property
    def kind(self) -> str:
        """Hardware that an image must be built for: a vendor, or ``cpu``."""
        return self.vendor if self.gpus else CPU


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
    subject = f"Model {model.metadata.name!r}: hardware"
    if hardware.accelerator == "metal":
        raise findings.fail(
            MODEL_PATH,
            f"{subject}.accelerator is metal, which runs on a Mac under LLMKube's host agent, not in a cluster; set "
            "accelerator to cuda, rocm, intel or cpu",
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
    if not gpus and (gpu.enabled or hardware.accelerator in llmkube().accelerators):
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
    return Hardware(gpus, vendor)


# -- nodes


def node_choices(selector: Mapping[str, str], options: Options, origin: Origin) -> tuple[NodeChoice, ...]:
    """Return the nodes that a selector matches; none for an empty selector."""
    if not selector:
        return ()
    name = instance_type_in(selector)
    others = {key: value for key, value in sorted(selector.items()) if key != INSTANCE_TYPE_LABEL}
    # Other labels may name the type as well, but then the pod cannot move to alternatives.
    free = name if INSTANCE_TYPE_LABEL in selector else None
    field = node_field(origin)
    return (NodeChoice("nodeSelector", name, others, options.alternatives.get(free or "", ()), field),)


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
            _check_memory(path, prefix, text, hardware, name, findings)


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
    size_gb = round(node.accelerator_memory_gib * _GIB / _GB)
    if parse_quantity(text) > size_gb * hardware.gpus * _GIB:
        findings.error(
            path,
            f"{prefix}is {text}, but the {hardware.gpus} {node.accelerator} of {name} have only {size_gb} GB each; "
            "request more or larger GPUs",
            RuleId.MEMORY_EXCEEDED,
        )


def tolerations_of(hardware: Hardware, choices: tuple[NodeChoice, ...]) -> list[Object]:
    """Return tolerations for the taints of the pod's nodes, with any value."""
    keys = [hardware.resource] if hardware.gpus else []
    keys += [taint["key"] for choice in choices for taint in taints(choice.instance_type)]
    return [{"key": key, "operator": "Exists", "effect": "NoSchedule"} for key in dict.fromkeys(keys)]
