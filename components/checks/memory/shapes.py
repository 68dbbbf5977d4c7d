"""What is known of a model: how large its weights are, and what a token of its key-value cache takes."""

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Layers:
    """Layers of a model that keep the same of every token.

    Attributes:
        count: How many there are.
        kv_heads: Heads of keys and values; they are divided among the ranks of tensor parallelism, and kept at least
            once by each.
        key_dim: Numbers of a key, per head.
        value_dim: Numbers of a value, per head; 0 where one latent stands for both (MLA).
        window: Tokens after which the cache stops growing; None where it holds the whole context.
        is_latent: Whether each rank keeps all of it (MLA).
        state_bytes: What one sequence takes in one layer whatever its length, over all ranks (Mamba).
        token_bytes: What each rank keeps of a token beside, whatever the type of the cache (index of DeepSeek V3.2).
    """

    count: int
    kv_heads: int = 0
    key_dim: int = 0
    value_dim: int = 0
    window: int | None = None
    is_latent: bool = False
    state_bytes: int = 0
    token_bytes: int = 0


@dataclass(frozen=True, slots=True)
class SizeSpan:
    """A range of model sizes.

    Attributes:
        least_bits, most_bits: Bits per parameter, including scales.
        ends_are_wide: Whether the vocabulary has 16 bits although other weights are quantized.
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
        name: What it is called where it is from: a repository such as ``Qwen/Qwen3-8B``, or a file.
        parameters: How many there are; None where no source says it.
        dtype: What the weights are kept in, such as ``bfloat16``, ``fp8``, ``int4-awq``, ``mxfp4``.
        weights_bytes: Size of the files with the weights; None where no source says it.
        layers: All layers, by kind; empty where no source says it.
        heads: Attention heads of queries, which tensor parallelism must divide; None where no source says it.
        max_context: The longest context that it was made for, in tokens; None where no source says it.
        hidden: Width of a token between layers; None where no source says it.
        vocabulary: Size of the vocabulary; None where no source says it.
        expert_share: Which part of the parameters are experts; None where there are none, or no source says it.
        experts: How many experts a layer has; 0 without.
        active_experts: How many of them a token goes through.
        intermediate: Width of a token within a feed-forward network, or one expert; None where no source says it.
        embeddings: Parameters of the vocabulary, at both ends of the model: quantization leaves them at 16 bits. None
            where no source says it.
        replicated: Parameters that each rank of tensor parallelism keeps whole (what makes latents of MLA).
        rounded: Whether the number of parameters is a publisher's name for the model, such as 30B.
        block: Numbers that quantized weights are scaled together; None where they are not, or no source says it.
        cuts: Widths that tensor parallelism cuts into parts of whole blocks.
        images: Whether it reads images or sounds as well, which takes memory that is not counted.
        exact: Whether the layers are known one by one; otherwise the cache is an upper bound.
        source: Where all of this is from, for the reader of a report.
        estimate: What the shape is estimated from; empty if it has a source.
        span: Range of sizes, if only the name is known; None if the layers are known.
        least_bytes: Smallest possible size of the files, if ``weights_bytes`` is an estimate.
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
    exact: bool = True
    source: str = ""
    estimate: str = ""
    span: SizeSpan | None = None
    least_bytes: int | None = None
