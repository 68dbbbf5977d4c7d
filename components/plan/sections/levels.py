"""The settings of service levels: what is promised for models, what is asked of them, what accelerators cost."""

from decimal import Decimal
from typing import Annotated

from pydantic import Field

from ...sizing.levels import Accelerator, Load, Promise, ServiceClass, ServiceLevels, VariantController
from ..section import Flag, Section

_Milliseconds = Annotated[int, Field(ge=0)]
_Number = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class PromiseSettings(Section):
    """What is promised for a model."""

    itl_ms: _Milliseconds = 0
    """Mean time from one token of an answer to the next, in whole milliseconds. Default: 0, no promise."""
    ttft_ms: _Milliseconds = 0
    """Time that 95 % of the requests wait at most for their first token, in whole milliseconds. Default: 0, no
    promise."""


class ClassSettings(Section):
    """Models with one priority."""

    name: str = Field(min_length=1)
    """Name of the class."""
    priority: int = Field(default=100, ge=1, le=100)
    """Priority: 1 is the highest."""
    models: dict[str, PromiseSettings] = Field(min_length=1)
    """What is promised, by the name under which clients ask for a model."""


class LoadSettings(Section):
    """What is asked of a variant."""

    requests_per_minute: _Number
    """Requests a minute at the peak."""
    output_tokens: _Number
    """Mean tokens of an answer."""
    input_tokens: _Number = 0
    """Mean tokens of a prompt."""
    least_requests_per_minute: _Number = 0
    """Requests a minute at the quietest time."""


class AcceleratorSettings(Section):
    """What an accelerator is, where the tables do not say it."""

    cents_per_hour: _Number | None = None
    """Price of one accelerator in US cents an hour. Default: that of its instances, on demand in us-east-1."""
    device: str = ""
    """Product in the labels of its nodes, such as NVIDIA-H100-80GB-HBM3."""


class ControllerSettings(Section):
    """The controller that sizes variants in the cluster."""

    prometheus_url: str = ""
    """URL of Prometheus with its port, which must be https."""
    insecure_skip_verify: Flag = False
    """Whether the controller takes any certificate of Prometheus."""
    scale_to_zero: Flag = False
    """Whether a variant without load has no replica; nothing wakes it up again."""
    interval: str = "60s"
    """How often it decides, such as 60s."""
    image: str = ""
    """Its image. Default: the pinned one."""


class LevelSettings(Section):
    """What is promised for each model, how much is asked of it, and what accelerators cost."""

    classes: list[ClassSettings] = Field(default_factory=list)
    """Service classes; a model is in exactly one."""
    loads: dict[str, LoadSettings] = Field(default_factory=dict)
    """What is asked of each variant, by name or namespace/name."""
    accelerators: dict[str, AcceleratorSettings] = Field(default_factory=dict)
    """Accelerators, by the name that variants give them."""
    controller: ControllerSettings = Field(default_factory=ControllerSettings)
    """The controller, with realization operator."""

    def levels(self) -> ServiceLevels:
        """Return what rendering works with."""
        control = self.controller
        return ServiceLevels(
            tuple(_class(each) for each in self.classes),
            {name: _load(each) for name, each in self.loads.items()},
            {name: _accelerator(each) for name, each in self.accelerators.items()},
            VariantController(
                control.prometheus_url,
                control.insecure_skip_verify,
                control.scale_to_zero,
                control.interval,
                control.image,
            ),
        )


def _class(given: ClassSettings) -> ServiceClass:
    promises = {model: Promise(promise.itl_ms, promise.ttft_ms) for model, promise in given.models.items()}
    return ServiceClass(given.name, given.priority, promises)


def _load(given: LoadSettings) -> Load:
    return Load(
        Decimal(str(given.requests_per_minute)),
        Decimal(str(given.output_tokens)),
        Decimal(str(given.input_tokens)),
        Decimal(str(given.least_requests_per_minute)),
    )


def _accelerator(given: AcceleratorSettings) -> Accelerator:
    price = None if given.cents_per_hour is None else Decimal(str(given.cents_per_hour))
    return Accelerator(price, given.device)
