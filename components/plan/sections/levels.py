"""The settings of service levels: latency targets and loads of models, and prices of accelerators."""

import re
from decimal import Decimal
from typing import Annotated

from pydantic import AfterValidator, Field, ValidationInfo, WithJsonSchema, field_validator

from ...contract.base import combined_error
from ...contract.names import is_dns1123_label, is_dns1123_subdomain, is_label_value
from ...fleet.levels import (
    LOWEST_PRIORITY,
    Accelerator,
    LatencyTargets,
    Load,
    ServiceClass,
    ServiceLevels,
    VariantController,
)
from ..section import Flag, Section

_CLASS = r"^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?)*$"
"""The lower-case name plus .yaml is a key of a ConfigMap."""
_LONGEST_CLASS = 253 - len(".yaml")
"""Keys have at most 253 characters (k8s.io/apimachinery, pkg/util/validation: IsConfigMapKey)."""
_HTTPS = r"^(https://[-.a-zA-Z0-9]+(:[0-9]{1,5})?(/[^\s?#]*)?)?$"
_DURATION = r"^(?=.*[1-9])([0-9]{1,9}(\.[0-9]{1,9})?(ms|s|m|h)){1,4}$"
_NAME = r"^([a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?)?$"
_MOST_MS = 3_600_000
_MOST = 1e9


def _https(value: str) -> str:
    if re.fullmatch(_HTTPS, value, re.ASCII) is None:
        raise ValueError(
            "must be an https URL such as https://prometheus.monitoring.svc:9090, because the controller refuses "
            "every other one"
        )
    return value


def _duration(value: str) -> str:
    if re.fullmatch(_DURATION, value, re.ASCII) is None:
        raise ValueError("must be a duration above zero, such as 30s or 1m30s")
    return value


def _class_name(value: str) -> str:
    if re.fullmatch(_CLASS, value, re.ASCII) is None:
        raise ValueError("must be letters, digits, '-' and '.', and begin and end with a letter or digit")
    if len(value) > _LONGEST_CLASS:
        raise ValueError(f"must be at most {_LONGEST_CLASS} characters")
    return value


def _accelerator_name(value: str) -> str:
    if len(value) < 2 or not is_label_value(value):
        raise ValueError(
            "must be 2 to 63 letters, digits, '-', '_' and '.', and begin and end with a letter or digit, because it "
            "is the value of a label"
        )
    return value


def _variant_name(value: str) -> str:
    namespace, slash, name = value.rpartition("/")
    if not is_dns1123_subdomain(name) or (slash and not is_dns1123_label(namespace)):
        raise ValueError("must be the name of a variant, or namespace/name")
    return value


_Milliseconds = Annotated[int, Field(ge=0, le=_MOST_MS)]
_Number = Annotated[float, Field(ge=0, le=_MOST, allow_inf_nan=False)]
_Tokens = Annotated[float, Field(ge=1, le=_MOST, allow_inf_nan=False)]
_HttpsUrl = Annotated[str, AfterValidator(_https), WithJsonSchema({"type": "string", "pattern": _HTTPS})]
_Interval = Annotated[str, AfterValidator(_duration), WithJsonSchema({"type": "string", "pattern": _DURATION})]
_ClassName = Annotated[
    str,
    AfterValidator(_class_name),
    WithJsonSchema({"type": "string", "pattern": _CLASS, "maxLength": _LONGEST_CLASS}),
]
_ModelName = Annotated[str, Field(min_length=1)]


class PromiseSettings(Section):
    """Latency targets of a model."""

    itl_ms: _Milliseconds = 0
    """Target for the mean time between two tokens of an answer, in whole milliseconds. Default: 0, no target."""
    ttft_ms: _Milliseconds = 0
    """Target for the 95th percentile of the time that requests wait before processing starts, in whole milliseconds;
    the time to the first token also includes processing the prompt. Default: 0, no target."""


class ClassSettings(Section):
    """A service class: models with the same priority."""

    name: _ClassName
    """Name of the class, unique regardless of case."""
    priority: int = Field(default=LOWEST_PRIORITY, ge=1, le=LOWEST_PRIORITY)
    """Priority: 1, the highest, to 100."""
    models: dict[_ModelName, PromiseSettings] = Field(min_length=1)
    """Latency targets, by the model name that clients request."""


class LoadSettings(Section):
    """Load of a variant."""

    requests_per_minute: _Number
    """Requests per minute at the peak."""
    output_tokens: _Tokens
    """Mean number of tokens of an answer."""
    input_tokens: _Number = 0
    """Mean number of tokens of a prompt."""
    least_requests_per_minute: _Number = 0
    """Lowest number of requests per minute, at most requestsPerMinute."""

    @field_validator("least_requests_per_minute")
    @classmethod
    def _at_most_the_peak(cls, value: float, info: ValidationInfo) -> float:
        peak = info.data.get("requests_per_minute")
        if peak is not None and value > peak:
            raise ValueError(f"must be at most requestsPerMinute, which is {peak:g}")
        return value


class AcceleratorSettings(Section):
    """Facts about an accelerator that override or extend the built-in tables."""

    cents_per_hour: _Number | None = None
    """Price of one accelerator in US cents per hour. Default: the on-demand price of its instances in us-east-1."""
    device: str = ""
    """Product name in the labels of its nodes, such as NVIDIA-H100-80GB-HBM3."""


class ControllerSettings(Section):
    """The controller that sizes variants in the cluster."""

    prometheus_url: _HttpsUrl = ""
    """URL of Prometheus with its port; must be https."""
    insecure_skip_verify: Flag = False
    """Whether the controller accepts any certificate of Prometheus."""
    scale_to_zero: Flag = False
    """Whether a variant without load is scaled to zero; requests do not scale it up again."""
    interval: _Interval = "60s"
    """Interval between scaling decisions, such as 1m30s."""
    image: str = ""
    """Image of the controller. Default: the pinned one."""
    ca_secret: str = Field(default="", pattern=_NAME)
    """Secret in namespace inferno-autoscaler-system with the CA certificate of Prometheus in its key ca.crt. Default:
    only public CAs are trusted."""


class LevelSettings(Section):
    """Latency targets and loads of models, and prices of accelerators."""

    classes: list[ClassSettings] = Field(default_factory=list)
    """Service classes; each model belongs to exactly one."""
    loads: dict[Annotated[str, AfterValidator(_variant_name)], LoadSettings] = Field(default_factory=dict)
    """Load of each variant, by name or namespace/name."""
    accelerators: dict[Annotated[str, AfterValidator(_accelerator_name)], AcceleratorSettings] = Field(
        default_factory=dict
    )
    """Accelerators, by the name that variants use."""
    controller: ControllerSettings = Field(default_factory=ControllerSettings.model_construct)
    """The controller, for realization operator."""

    @field_validator("classes")
    @classmethod
    def _one_of_a_name(cls, value: list[ClassSettings]) -> list[ClassSettings]:
        first = dict[str, str]()
        problems = []
        for position, service_class in enumerate(value):
            key = service_class.name.lower()
            if key in first:
                reason = f"is that of another class, {first[key]!r}; upper and lower case are the same"
                problems.append(((position, "name"), reason))
            first.setdefault(key, service_class.name)
        if problems:
            raise combined_error(problems)
        return value

    def levels(self, file: str) -> ServiceLevels:
        """Convert to the types of rendering; messages name the file."""
        control = self.controller
        return ServiceLevels(
            tuple(
                ServiceClass(
                    service_class.name,
                    service_class.priority,
                    {
                        model: LatencyTargets(targets.itl_ms, targets.ttft_ms)
                        for model, targets in service_class.models.items()
                    },
                )
                for service_class in self.classes
            ),
            {
                name: Load(
                    Decimal(str(load.requests_per_minute)),
                    Decimal(str(load.output_tokens)),
                    Decimal(str(load.input_tokens)),
                    Decimal(str(load.least_requests_per_minute)),
                )
                for name, load in self.loads.items()
            },
            {
                name: Accelerator(
                    None if accelerator.cents_per_hour is None else Decimal(str(accelerator.cents_per_hour)),
                    accelerator.device,
                )
                for name, accelerator in self.accelerators.items()
            },
            VariantController(
                prometheus=control.prometheus_url,
                skip_verify=control.insecure_skip_verify,
                scale_to_zero=control.scale_to_zero,
                interval=control.interval,
                image=control.image,
                ca_secret=control.ca_secret,
            ),
            file,
        )
