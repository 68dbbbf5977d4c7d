"""LLMKube: Model (``inference.llmkube.dev``), which an InferenceService serves (LLMKube spec 1.3)."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ....contract import rules
from ....contract.base import ApiModel, Int32, Rule
from ....contract.meta import Resource
from .status import ModelStatus
from .values import GpuCount, Number, Sha256, Source


class GPUShardingSpec(ApiModel):
    """How llama.cpp splits a model across several GPUs. Entries of ``layerSplit`` are ``start-end``, one per GPU."""

    strategy: Literal["layer", "tensor", "row", "pipeline", "none"] = "layer"
    """layer, tensor, row, pipeline or none."""
    layer_split: list[str] | None = None
    """Layers of each GPU, such as 0-15."""


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


class HardwareSpec(ApiModel):
    """What the model runs on. The memory bounds are for the host agent: a quantity, or a share of the host."""

    accelerator: Literal["cpu", "metal", "cuda", "rocm", "intel"] = "cpu"
    """cpu, metal, cuda, rocm or intel."""
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

    source: Source
    """Where the weights are: an http(s) URL, a Hugging Face repository, pvc://CLAIM/PATH, or a path on the node."""
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
