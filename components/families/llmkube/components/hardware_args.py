"""What a Model runs on, as arguments."""

from typing import TypedDict


class ShardingArgs(TypedDict, total=False):
    """How llama.cpp cuts a model over several GPUs."""

    strategy: str
    """layer, tensor, row, pipeline or none. Default: layer."""
    layer_split: list[str]
    """Layers of each GPU, such as 0-15."""


class GpuArgs(TypedDict, total=False):
    """The GPUs of one pod."""

    enabled: bool
    """Whether there are any."""
    count: int
    """How many, 0 to 8."""
    memory: str
    """Memory that the model needs of them, as a quantity; held against what the nodes have."""
    vendor: str
    """nvidia, amd or intel. Default: nvidia."""
    layers: int
    """Layers that go to them; -1 leaves it to the engine."""
    sharding: ShardingArgs
    """How the model is cut over them."""


class HardwareArgs(TypedDict, total=False):
    """What the model runs on."""

    accelerator: str
    """cpu, metal, cuda, rocm or intel. Default: cpu."""
    gpu: GpuArgs
    """The GPUs of one pod."""
    memory_budget: str
    """Memory of the node that it may take, as a quantity; for the host agent of LLMKube alone."""
    memory_fraction: float
    """The same as a share; for the host agent alone."""


class HostResourcesArgs(TypedDict, total=False):
    """What the model asks of the node."""

    cpu: str
    """CPU, as a quantity."""
    memory: str
    """Memory, as a quantity."""
