"""How a server distributes its model over accelerators and host memory."""

from decimal import Decimal
from typing import NamedTuple

from ..numbers import parse_decimal
from ..settings import Setting
from .settings import SettingsReader, UnclearError
from .table import Spread


class ModelLayout(NamedTuple):
    """How a model is distributed over accelerators.

    Attributes:
        tensor: Tensor parallel size; None for all accelerators.
        pipeline: Pipeline parallel size; None for all accelerators.
        experts: Whether experts are distributed rather than split.
        groups: Groups of ranks that run attention in data parallel.
        shares: Shares of the accelerators, if they are unequal.
        layers: Number of layers on accelerators; None for all.
        expert_layers: Number of layers whose experts stay in host memory; None for all.
        cache_on_host: Whether the cache stays in host memory.
        offloaded_gib: GiB of weights per accelerator that stay in host memory.
    """

    tensor: int | None = 1
    pipeline: int | None = 1
    data: int = 1
    experts: bool = False
    groups: int = 1
    shares: tuple[Decimal, ...] = ()
    layers: int | None = None
    expert_layers: int | None = 0
    cache_on_host: bool = False
    offloaded_gib: Decimal = Decimal(0)


def model_layout(settings: SettingsReader) -> ModelLayout:
    """Return how a server distributes its model.

    Raises:
        UnclearError: The layout cannot be determined.
    """
    table = settings.table
    tensor, pipeline = settings.number(Setting.TENSOR_PARALLEL), settings.number(Setting.PIPELINE_PARALLEL)
    match table.spread:
        case Spread.ONE:
            tensor, pipeline = tensor or 1, pipeline or 1
        case Spread.ALL:
            is_unsharded = settings.text(Setting.SHARDED) == "false"
            tensor, pipeline = tensor or (1 if is_unsharded else None), pipeline or 1
        case Spread.LAYERS:
            mode = settings.text(Setting.SPLIT_MODE) or "layer"
            if mode not in ("layer", "none"):
                flag = settings.named(Setting.SPLIT_MODE)
                raise UnclearError(f"{flag} {mode} splits layers, whose memory use is not calculated")
            tensor, pipeline = 1, (None if mode == "layer" else 1)

    cache_on_gpu = settings.text(Setting.CACHE_ON_GPU) in (None, "") or settings.is_on(Setting.CACHE_ON_GPU)
    data, groups = settings.number(Setting.DATA_PARALLEL) or 1, 1
    if settings.is_on(Setting.ATTENTION_PARALLEL):
        # Its ranks are those of tensor parallelism, not further ones.
        data, groups = 1, data
    # Some engines have a switch for expert parallelism, others take the number of ranks.
    ranks = settings.text(Setting.EXPERT_PARALLEL) or ""
    if ranks.isdecimal():
        experts = (settings.number(Setting.EXPERT_PARALLEL) or 0) > 1
    else:
        experts = settings.is_on(Setting.EXPERT_PARALLEL)
    shares = _unequal_shares(settings) if pipeline is None else ()

    layers: int | None = None
    text = settings.text(Setting.GPU_LAYERS)
    if table.all_layers is not None and text not in ("auto", "all"):
        layers = settings.number(Setting.GPU_LAYERS)
        if layers is None:
            layers = None if settings.holds(table.all_layers, "how many layers are on accelerators") else 0
        elif layers < 0:
            layers = None
    if settings.is_on(Setting.EXPERTS_ON_CPU):
        expert_layers = None
    else:
        expert_layers = settings.number(Setting.EXPERT_LAYERS_ON_CPU) or 0
    return ModelLayout(
        tensor=tensor,
        pipeline=pipeline,
        data=data,
        experts=experts,
        groups=groups,
        shares=shares,
        layers=layers,
        expert_layers=expert_layers,
        cache_on_host=not cache_on_gpu,
        offloaded_gib=settings.decimal(Setting.OFFLOADED_GIB) or Decimal(0),
    )


def _unequal_shares(settings: SettingsReader) -> tuple[Decimal, ...]:
    """Return the shares of the accelerators; empty if they are equal."""
    text = settings.text(Setting.TENSOR_SPLIT)
    if not text:
        return ()
    shares = [parse_decimal(part) for part in text.replace("/", ",").split(",")]
    known = tuple(share for share in shares if share is not None and share >= 0)
    if len(known) != len(shares) or not sum(known):
        settings.fail(Setting.TENSOR_SPLIT, text)
    return () if len(set(known)) == 1 else known


def offloads_to_host(settings: SettingsReader) -> bool:
    """Return whether weights that do not fit stay in host memory: only if the server may choose the layers.

    llama.cpp does not choose them if layers, a split, or the placement of experts are set (common/fit.cpp).
    """
    if settings.text(Setting.GPU_LAYERS) not in (None, "", "auto", "-1"):
        return False
    placements = (Setting.TENSOR_SPLIT, Setting.EXPERT_LAYERS_ON_CPU)
    if any(map(settings.text, placements)) or settings.is_on(Setting.EXPERTS_ON_CPU):
        return False
    return settings.holds(settings.table.adapts, "whether it keeps layers that do not fit in host memory")
