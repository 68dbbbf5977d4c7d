"""LLMKube: Model (``inference.llmkube.dev``), which an InferenceService serves (LLMKube spec 1.3)."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from ....contract import rules
from ....contract.base import ApiModel, Int32, Json, Rule, Violation, combined_error
from ....contract.meta import Resource
from ....contract.releases import Span
from .status import ModelStatus
from .values import DeviceResource, GpuCount, LocalObjectReference, Number, Sha256, Source


class GPUShardingSpec(ApiModel):
    """How llama.cpp splits a model across several GPUs. Entries of ``layerSplit`` are ``start-end``, one per GPU."""

    strategy: Literal["layer", "tensor", "row", "pipeline", "none"] = "layer"
    """layer, tensor, row, pipeline or none."""
    layer_split: list[str] | None = None
    """Layers of each GPU, such as 0-15."""


class PodResourceClaim(ApiModel):
    """A claim of Dynamic Resource Allocation, or the template of one; exactly one of the two."""

    name: str
    """Name of the claim in the pod."""
    resource_claim_name: str | None = None
    """Name of a ResourceClaim in the same namespace."""
    resource_claim_template_name: str | None = None
    """Name of a ResourceClaimTemplate in the same namespace, of which every pod gets its own claim."""


_CLAIM = "each claim must have exactly one of resourceClaimName or resourceClaimTemplateName"


def _one_reference(claims: list[PodResourceClaim]) -> list[PodResourceClaim]:
    violations = [
        ((index,), f"must have exactly one of resourceClaimName and resourceClaimTemplateName, found {found}")
        for index, claim in enumerate(claims)
        if (found := _references(claim)) in ("none", "both")
    ]
    if violations:
        raise combined_error(violations)
    return claims


def _references(claim: PodResourceClaim) -> str:
    own, template = claim.resource_claim_name is not None, claim.resource_claim_template_name is not None
    return "both" if own and template else "one" if own or template else "none"


PodResourceClaims = Annotated[
    list[PodResourceClaim],
    Field(
        max_length=16,
        json_schema_extra={
            "x-kubernetes-validations": [
                {
                    "rule": "self.size() == 0 || self.all(c, (has(c.resourceClaimName) && "
                    "!has(c.resourceClaimTemplateName)) || (!has(c.resourceClaimName) && "
                    "has(c.resourceClaimTemplateName)))",
                    "message": _CLAIM,
                }
            ]
        },
    ),
    AfterValidator(_one_reference),
]


def _both_ways(gpu: Json) -> Iterator[Violation]:
    if gpu.resource_name is not None and gpu.resource_claims:
        yield ("resourceClaims",), f", found both; resourceName is {gpu.resource_name!r}"


def _both_ways_early(gpu: Json) -> Iterator[Violation]:
    if gpu.resource_name is not None and gpu.resource_claims != []:
        yield ("resourceClaims",), "; that release also requires an empty list beside resourceName"


_EXCLUSIVE = "resourceClaims and resourceName are mutually exclusive: use one or the other for GPU scheduling"


class GPUSpec(ApiModel):
    """The GPUs of one pod. ``layers`` is how many layers go to them; -1 leaves it to the engine."""

    enabled: bool | None = None
    """Whether GPUs are used."""
    count: GpuCount | None = None
    """How many, 0 to 8."""
    memory: str | None = None
    """GPU memory that the model needs, as a quantity; checked against the instance type."""
    vendor: Literal["nvidia", "amd", "intel"] = "nvidia"
    """nvidia, amd or intel."""
    layers: Annotated[Int32, Field(ge=-1)] | None = None
    """Layers on the GPUs; -1 for all of them."""
    sharding: GPUShardingSpec | None = None
    """How the model is split across the GPUs."""
    runtime: Annotated[Literal["vulkan", "rocm"] | None, Span(since="v0.8.8")] = None
    """With vendor amd: vulkan or rocm, the computing interface of llama.cpp."""
    resource_name: Annotated[DeviceResource | None, Span(since="v0.8.8")] = None
    """Extended resource that the pods request, instead of the vendor's."""
    toleration_key: Annotated[DeviceResource | None, Span(since="v0.8.8")] = None
    """Taint that the pods tolerate, instead of the one named like the resource."""
    resource_claims: Annotated[PodResourceClaims | None, Span(since="v0.8.9")] = None
    """Claims of Dynamic Resource Allocation, instead of an extended resource."""

    rules: ClassVar[tuple[Rule, ...]] = (
        # Without resourceClaims the first form fails to evaluate, so that release rejects every resourceName.
        Rule(
            _EXCLUSIVE,
            _both_ways_early,
            "!(has(self.resourceName) && self.resourceClaims.size() > 0)",
            span=Span("v0.8.9", "v0.8.9"),
        ),
        Rule(
            _EXCLUSIVE,
            _both_ways,
            "!(has(self.resourceName) && has(self.resourceClaims) && self.resourceClaims.size() > 0)",
            span=Span(since="v0.8.10"),
        ),
    )


class HardwareSpec(ApiModel):
    """What the model runs on. The memory bounds are for the host agent: a quantity, or a share of the host."""

    accelerator: Annotated[
        Literal["cpu", "metal", "cuda", "rocm", "intel", "vulkan"],
        Span(until="v0.8.8", enum=["cpu", "metal", "cuda", "rocm", "intel"]),
        Span(since="v0.8.9"),
    ] = "cpu"
    """cpu, metal, cuda, rocm, intel or vulkan."""
    gpu: GPUSpec | None = None
    """The GPUs of one pod."""
    memory_budget: str | None = None
    """Host memory that it may use, as a quantity; only for LLMKube's host agent."""
    memory_fraction: Number | None = None
    """The same as a fraction; only for LLMKube's host agent."""


class ModelResources(ApiModel):
    """Host resources of the model, as quantities."""

    cpu: str | None = None
    """CPU, as a quantity."""
    memory: str | None = None
    """Memory, as a quantity."""


class ModelSpec(ApiModel):
    """Where the weights come from and what they need."""

    source: Annotated[
        Source,
        Span(until="v0.8.17", pattern=r"^(https?|file|pvc)://.*|^/[^\s]+$|^[a-zA-Z0-9][\w\-\.\/]+$"),
        Span("v0.8.18", "v0.9.5", pattern=r"^(https?|file|pvc|hf)://.*|^/[^\s]+$|^[a-zA-Z0-9][\w\-\.\/]+$"),
        Span(since="v0.9.6"),
    ]
    """Where the weights are: an http(s) URL, a Hugging Face repository (org/name or hf://org/name@revision),
    s3://BUCKET/KEY, pvc://CLAIM/PATH, or a path on the node."""
    source_secret_ref: Annotated[LocalObjectReference | None, Span(since="v0.9.6")] = None
    """Secret with AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, for an s3:// source."""
    files: Annotated[list[str] | None, Span(since="v0.8.18")] = None
    """Files of the source, by paths below it; the first one is the model."""
    mmproj: Annotated[str | None, Span(since="v0.8.18")] = None
    """File of the source with the projector of images, for llama.cpp."""
    prefetch: Annotated[bool | None, Span(since="v0.9.11")] = None
    """Whether the operator downloads the files before a service needs them."""
    sha256: Sha256 | None = None
    """Checksum of the file, in hexadecimal digits."""
    refresh_policy: Literal["IfNotPresent", "OnChange"] = "IfNotPresent"
    """IfNotPresent or OnChange."""
    format: Literal["gguf", "mlx", "safetensors", "pytorch", "custom"] = "gguf"
    """gguf, mlx, safetensors, pytorch or custom."""
    quantization: str | None = None
    """How the weights are quantized, such as Q4_K_M; informational."""
    hardware: HardwareSpec | None = None
    """What the model runs on. Default: CPUs."""
    resources: ModelResources | None = None
    """Host resources that it needs."""


class Model(Resource):
    """Weights that InferenceServices of the same namespace can serve."""

    api_version: Literal["inference.llmkube.dev/v1alpha1"]
    kind: Literal["Model"]
    spec: ModelSpec
    status: ModelStatus | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.OBJECT_NAME,)
