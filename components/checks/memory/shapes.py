"""The shape of a model: the size of its weights, and its layers with their key-value cache."""

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import NamedTuple

UNQUANTIZED = frozenset({"bfloat16", "float16", "float32"})


@dataclass(frozen=True, slots=True)
class Layers:
    """Layers of a model with the same cache per token.

    Attributes:
        count: Number of layers.
        kv_heads: Key-value heads; divided among the ranks of tensor parallelism, at least one per rank.
        key_dim: Numbers of a key, per head.
        value_dim: Numbers of a value, per head; 0 if one latent stands for both (MLA).
        window: Tokens after which the cache stops growing; None if it holds the whole context.
        is_latent: Whether each rank keeps the whole cache (MLA).
        state_bytes: Fixed bytes of one sequence in one layer, over all ranks (Mamba).
        token_bytes: Further bytes per token on each rank, whatever the cache type (index of DeepSeek V3.2).
    """

    count: int
    kv_heads: int = 0
    key_dim: int = 0
    value_dim: int = 0
    window: int | None = None
    is_latent: bool = False
    state_bytes: int = 0
    token_bytes: int = 0


class SizeSpan(NamedTuple):
    """A range of model sizes.

    Attributes:
        least_bits, most_bits: Bits per parameter, including scales.
        ends_are_wide: Whether the vocabulary keeps 16 bits although other weights are quantized.
    """

    least_parameters: int
    most_parameters: int
    least_bits: Decimal
    most_bits: Decimal
    ends_are_wide: bool = False


@dataclass(frozen=True, slots=True)
class Shape:
    """A model.

    Attributes:
        name: Its name at its origin: a repository such as ``Qwen/Qwen3-8B``, or a file.
        parameters: Number of parameters; None if unknown.
        dtype: Data type of the weights, such as ``bfloat16``, ``fp8``, ``int4-awq``, ``mxfp4``.
        weights_bytes: Size of the weight files; None if unknown.
        layers: All layers, by kind; empty if unknown.
        heads: Attention heads of queries, which tensor parallelism must divide; None if unknown.
        max_context: The longest supported context, in tokens; None if unknown.
        hidden: Hidden size, the width of a token between layers; None if unknown.
        vocabulary: Size of the vocabulary; None if unknown.
        expert_share: Fraction of the parameters in experts; None without experts or if unknown.
        experts: Experts per layer; 0 without.
        active_experts: Experts that each token is routed to.
        intermediate: Inner width of a feed-forward network, or of one expert; None if unknown.
        embeddings: Parameters of the vocabulary, at both ends of the model, which quantization leaves at 16 bits;
            None if unknown.
        replicated: Parameters that each rank of tensor parallelism keeps whole (the projections to latents of MLA).
        rounded: Whether the number of parameters is rounded by the publisher, such as 30B.
        block: Size of a quantization block; None if there are none or if unknown.
        cuts: Widths that tensor parallelism must divide into whole blocks.
        images: Whether it also accepts images or audio, whose encoding takes memory that is not counted.
        tower: Layers x width² of the encoder of images, as a multiple of those of CLIP ViT-L/14.
        exact: Whether each layer is known; otherwise the cache is an upper bound.
        source: Where the figures are from, for reports.
        estimate: What the shape is estimated from; empty if it has a source.
        span: Range of sizes, if only the name is known; None if the layers are known.
        architecture: The class that its configuration names, which the engine must have; empty if unknown.
        least_bytes: Lower bound of the file size, if ``weights_bytes`` is an estimate.
    """

    name: str
    parameters: int | None = None
    dtype: str = ""
    weights_bytes: int | None = None
    layers: tuple[Layers, ...] = ()
    heads: int | None = None
    max_context: int | None = None
    hidden: int | None = None
    vocabulary: int | None = None
    expert_share: Decimal | None = None
    experts: int = 0
    active_experts: int = 0
    intermediate: int | None = None
    embeddings: int | None = None
    replicated: int = 0
    rounded: bool = False
    block: int | None = None
    cuts: tuple[int, ...] = ()
    images: bool = False
    tower: Decimal = Decimal(1)
    exact: bool = True
    source: str = ""
    estimate: str = ""
    span: SizeSpan | None = None
    least_bytes: int | None = None
    architecture: str = ""

    @property
    def known_dtype(self) -> str:
        """Data type of the weights; empty if it is one that models without a quantized name are assumed to have."""
        return "" if self.estimate and self.dtype in UNQUANTIZED else self.dtype


def tower_size(layers: int, width: int) -> Decimal:
    """Return the size of an encoder of images, as a multiple of that of CLIP ViT-L/14."""
    return Decimal(layers * width**2) / (24 * 1024**2)


def heads_of(shape: Shape) -> Shape:
    """Return the layer with which a model proposes tokens itself (MTP): about as large as one of its layers.

    It has the embeddings of the model. DeepSeek-V3: 11.6 billion parameters, of 671 in 61 layers.
    """
    count = sum(kind.count for kind in shape.layers) or 1
    growing = next((kind for kind in shape.layers if kind.key_dim and kind.window is None), None)

    def part(size: int | None) -> int | None:
        return None if size is None else size // count

    return replace(
        shape,
        name=f"the heads of {shape.name}",
        parameters=part(shape.parameters),
        weights_bytes=part(shape.weights_bytes),
        layers=(replace(growing, count=1),) if growing else shape.layers[:1],
        embeddings=0,
        replicated=0,
    )
