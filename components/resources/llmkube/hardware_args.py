"""What a Model runs on, as arguments."""

from typing import TypedDict


class ShardingArgs(TypedDict, total=False):
    """How llama.cpp splits a model across several GPUs."""

    strategy: str
    """layer, tensor, row, pipeline or none. Default: layer."""
    layer_split: list[str]
    """Layers of each GPU, such as 0-15."""


class GpuArgs(TypedDict, total=False):
    """The GPUs of one pod."""

    enabled: bool
    """Whether GPUs are used."""
    count: int
    """How many, 0 to 8."""
    memory: str
    """GPU memory that the model needs, as a quantity; checked against the instance type."""
    vendor: str
    """nvidia, amd or intel. Default: nvidia."""
    layers: int
    """Layers on the GPUs; -1 for all of them."""
    sharding: ShardingArgs
    """How the model is split across the GPUs."""


class HardwareArgs(TypedDict, total=False):
    """What the model runs on."""

    accelerator: str
    """cpu, metal, cuda, rocm or intel. Default: cpu."""
    gpu: GpuArgs
    """The GPUs of one pod."""
    memory_budget: str
    """Host memory that it may use, as a quantity; only for LLMKube's host agent."""
    memory_fraction: float
    """The same as a fraction; only for LLMKube's host agent."""


class HostResourcesArgs(TypedDict, total=False):
    """Host resources that the model needs."""

    cpu: str
    """CPU, as a quantity."""
    memory: str
    """Memory, as a quantity."""
