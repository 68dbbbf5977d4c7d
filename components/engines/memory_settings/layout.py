"""How a server is told to use several accelerators, and what it leaves to the host."""

from dataclasses import dataclass
from decimal import Decimal

from ..numbers import parse_decimal
from ..settings import Setting
from .settings import OFF, SettingsReader, UnclearError
from .table import Spread

_PLACES = (Setting.TENSOR_SPLIT, Setting.EXPERT_LAYERS_ON_CPU)


@dataclass(frozen=True, slots=True)
class ModelLayout:
    """How a model is spread over accelerators.

    Attributes:
        tensor: Accelerators over which each layer is cut; None for all that there are.
        pipeline: Into how many parts layers are divided; None for as many as there are accelerators.
        experts: Whether experts are divided instead of being cut.
        shares: Shares of the accelerators, where they are unequal.
        layers: Layers that are on accelerators; None for all of them.
        expert_layers: Layers whose experts stay in the memory of the host; None for all of them.
        cache_on_host: Whether the cache stays there.
        offloaded_gib: GiB of weights per accelerator that stay there.
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
    """Return how a server is told to spread its model.

    Raises:
        UnclearError: that cannot be said.
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
        expert_layers=_expert_layers(settings),
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
    """Return unequal shares; nothing where all are equal."""
    text = settings.text(Setting.TENSOR_SPLIT)
    if not text:
        return ()
    shares = [parse_decimal(part) for part in text.replace("/", ",").split(",")]
    known = tuple(share for share in shares if share is not None and share >= 0)
    if len(known) != len(shares) or not sum(known):
        settings.fail(Setting.TENSOR_SPLIT, text)
    return () if len(set(known)) == 1 else known


def _divides_experts(settings: SettingsReader) -> bool:
    """Tell whether experts are divided: some engines take a switch, others the number of ranks."""
    text = settings.text(Setting.EXPERT_PARALLEL)
    if text is None or text == OFF or not text.isdecimal():
        return settings.is_on(Setting.EXPERT_PARALLEL)
    return (settings.number(Setting.EXPERT_PARALLEL) or 0) > 1


def _expert_layers(settings: SettingsReader) -> int | None:
    """Return how many layers have their experts in the memory of the host; None for all of them."""
    if settings.is_on(Setting.EXPERTS_ON_CPU):
        return None
    return settings.number(Setting.EXPERT_LAYERS_ON_CPU) or 0


def offloads_to_host(settings: SettingsReader) -> bool:
    """Tell whether a server keeps in the memory of the host what does not fit: only if it may choose the layers."""
    if settings.text(Setting.GPU_LAYERS) not in (None, "", "auto", "-1"):
        return False
    if any(settings.text(setting) for setting in _PLACES) or settings.is_on(Setting.EXPERTS_ON_CPU):
        return False
    return settings.holds(settings.table.adapts, "whether it keeps what does not fit in the memory of the host")


def _layers(settings: SettingsReader) -> int | None:
    """Return how many layers are on accelerators; None for all of them."""
    text = settings.text(Setting.GPU_LAYERS)
    if settings.table.all_layers is None or text in ("auto", "all"):
        return None
    number = settings.number(Setting.GPU_LAYERS)
    if number is None:
        return None if settings.holds(settings.table.all_layers, "how many layers are on accelerators") else 0
    return None if number < 0 else number
