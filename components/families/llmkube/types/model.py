"""LLMKube: Model (``inference.llmkube.dev``), what an InferenceService serves (LLMKube spec 1.3)."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ....contract import rules
from ....contract.base import ApiModel, Int32, Rule
from ....contract.meta import Resource
from .status import ModelStatus
from .values import GpuCount, Number, Sha256, Source


class GPUShardingSpec(ApiModel):
    """How llama.cpp cuts a model over several GPUs. Entries of ``layerSplit`` are ``start-end``, one per GPU."""

    strategy: Literal["layer", "tensor", "row", "pipeline", "none"] = "layer"
    layer_split: list[str] | None = None


class GPUSpec(ApiModel):
    """The GPUs of one pod. ``layers`` is how many layers go to them; -1 leaves it to the engine."""

    enabled: bool | None = None
    count: GpuCount | None = None
    memory: str | None = None
    vendor: Literal["nvidia", "amd", "intel"] = "nvidia"
    layers: Annotated[Int32, Field(ge=-1)] | None = None
    sharding: GPUShardingSpec | None = None


class HardwareSpec(ApiModel):
    """What the model runs on. The memory bounds are for the host agent: a quantity, or a share of the host."""

    accelerator: Literal["cpu", "metal", "cuda", "rocm", "intel"] = "cpu"
    gpu: GPUSpec | None = None
    memory_budget: str | None = None
    memory_fraction: Number | None = None


class ModelResources(ApiModel):
    """Host resources of the model, as quantities."""

    cpu: str | None = None
    memory: str | None = None


class ModelSpec(ApiModel):
    """Where the weights come from and what they need."""

    source: Source
    sha256: Sha256 | None = None
    refresh_policy: Literal["IfNotPresent", "OnChange"] = "IfNotPresent"
    format: Literal["gguf", "mlx", "safetensors", "pytorch", "custom"] = "gguf"
    quantization: str | None = None
    hardware: HardwareSpec | None = None
    resources: ModelResources | None = None


class Model(Resource):
    """Weights that InferenceServices of the same namespace can serve."""

    api_version: Literal["inference.llmkube.dev/v1alpha1"]
    kind: Literal["Model"]
    spec: ModelSpec
    status: ModelStatus | None = None

    rules: ClassVar[tuple[Rule, ...]] = (rules.OBJECT_NAME,)
