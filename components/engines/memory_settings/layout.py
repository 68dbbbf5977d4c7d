"""How a server distributes its model over accelerators and host memory."""

from dataclasses import dataclass
from decimal import Decimal

from ..numbers import parse_decimal
from ..settings import Setting
from .settings import OFF, SettingsReader, UnclearError
from .table import Spread

_PLACES = (Setting.TENSOR_SPLIT, Setting.EXPERT_LAYERS_ON_CPU)


@dataclass(frozen=True, slots=True)
class ModelLayout:
    """How a model is distributed over accelerators.

    Attributes:
        tensor: Tensor parallel size; None for all accelerators.
        pipeline: Pipeline parallel size; None for all accelerators.
        experts: Whether experts are distributed rather than split.
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
    tensor, pipeline = _sizes(settings)
    is_on = settings.text(Setting.CACHE_ON_GPU) in (None, "") or settings.is_on(Setting.CACHE_ON_GPU)
    return ModelLayout(
        tensor=tensor,
        pipeline=pipeline,
        data=settings.number(Setting.DATA_PARALLEL) or 1,
        experts=_divides_experts(settings),
        shares=_shares(settings) if pipeline is None else (),
        layers=_layers(settings),
        expert_layers=(
            None if settings.is_on(Setting.EXPERTS_ON_CPU) else settings.number(Setting.EXPERT_LAYERS_ON_CPU) or 0
        ),
        cache_on_host=not is_on,
        offloaded_gib=settings.decimal(Setting.OFFLOADED_GIB) or Decimal(0),
    )


def _sizes(settings: SettingsReader) -> tuple[int | None, int | None]:
    tensor, pipeline = settings.number(Setting.TENSOR_PARALLEL), settings.number(Setting.PIPELINE_PARALLEL)
    match settings.table.spread:
        case Spread.ONE:
            return tensor or 1, pipeline or 1
        case Spread.ALL:
            alone = settings.text(Setting.SHARDED) == "false"
            return tensor or (1 if alone else None), pipeline or 1
    mode = settings.text(Setting.SPLIT_MODE) or "layer"
    if mode not in ("layer", "none"):
        raise UnclearError(f"{settings.named(Setting.SPLIT_MODE)} {mode} cuts layers in a way that is not counted")
    return 1, (None if mode == "layer" else 1)


def _shares(settings: SettingsReader) -> tuple[Decimal, ...]:
    """Return the shares of the accelerators; empty if they are equal."""
    text = settings.text(Setting.TENSOR_SPLIT)
    if not text:
        return ()
    shares = [parse_decimal(part) for part in text.replace("/", ",").split(",")]
    known = tuple(share for share in shares if share is not None and share >= 0)
    if len(known) != len(shares) or not sum(known):
        settings.fail(Setting.TENSOR_SPLIT, text)
    return () if len(set(known)) == 1 else known


def _divides_experts(settings: SettingsReader) -> bool:
    """Return whether experts are distributed: some engines have a switch, others take the number of ranks."""
    text = settings.text(Setting.EXPERT_PARALLEL)
    if text is None or text == OFF or not text.isdecimal():
        return settings.is_on(Setting.EXPERT_PARALLEL)
    return (settings.number(Setting.EXPERT_PARALLEL) or 0) > 1


def offloads_to_host(settings: SettingsReader) -> bool:
    """Return whether weights that do not fit stay in host memory: only if the server may choose the layers."""
    if settings.text(Setting.GPU_LAYERS) not in (None, "", "auto", "-1"):
        return False
    if any(settings.text(setting) for setting in _PLACES) or settings.is_on(Setting.EXPERTS_ON_CPU):
        return False
    return settings.holds(settings.table.adapts, "whether it keeps what does not fit in the memory of the host")


def _layers(settings: SettingsReader) -> int | None:
    """Return the number of layers on accelerators; None for all."""
    text = settings.text(Setting.GPU_LAYERS)
    if settings.table.all_layers is None or text in ("auto", "all"):
        return None
    number = settings.number(Setting.GPU_LAYERS)
    if number is None:
        return None if settings.holds(settings.table.all_layers, "how many layers are on accelerators") else 0
    return None if number < 0 else number
