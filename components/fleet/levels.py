"""Service levels: latency targets of models, their expected load, and prices of accelerators."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

LOWEST_PRIORITY = 100
"""Lowest priority of a service class; 1 is the highest (WVA spec 4)."""


@dataclass(frozen=True, slots=True)
class LatencyTargets:
    """Latency targets (SLOs) of a model, in whole milliseconds; 0 means no target (WVA spec 4).

    Attributes:
        itl_ms: Mean inter-token latency.
        ttft_ms: 95th percentile of the time to first token.
    """

    itl_ms: int = 0
    ttft_ms: int = 0


@dataclass(frozen=True, slots=True)
class ServiceClass:
    """Models of one priority, with their latency targets.

    Attributes:
        priority: 1 (highest) to 100.
        targets: Latency targets by model name, as clients request it.
    """

    name: str
    priority: int = LOWEST_PRIORITY
    targets: Mapping[str, LatencyTargets] = field(default_factory=dict)


class Load(NamedTuple):
    """Expected load of one variant of a model.

    Attributes:
        per_minute: Requests per minute at peak.
        least_per_minute: Requests per minute at the quietest time.
        input_tokens: Mean prompt tokens of a request.
        output_tokens: Mean output tokens of a request.
    """

    per_minute: Decimal
    output_tokens: Decimal
    input_tokens: Decimal = Decimal(0)
    least_per_minute: Decimal = Decimal(0)


class Accelerator(NamedTuple):
    """Overrides of the tables for one kind of accelerator.

    Attributes:
        cents_per_hour: Price of one accelerator, in US cents per hour; None for the price in the tables.
        device: Value of the node label with the product; empty for the value in the tables.
    """

    cents_per_hour: Decimal | None = None
    device: str = ""


class VariantController(NamedTuple):
    """Settings of the controller that sizes variants in the cluster, with realization ``operator`` (WVA spec 4, 6).

    Attributes:
        prometheus: URL of its Prometheus, https only; empty if none is set.
        skip_verify: Whether it skips verification of the Prometheus certificate.
        scale_to_zero: Whether variants without load are scaled to zero.
        interval: Interval between decisions, as a Go duration.
        image: Its image; empty for the pinned one.
        ca_secret: Secret in its namespace whose key ``ca.crt`` is the CA of the Prometheus certificate; empty for a
            publicly trusted CA.
    """

    prometheus: str = ""
    skip_verify: bool = False
    scale_to_zero: bool = False
    interval: str = "60s"
    image: str = ""
    ca_secret: str = ""


@dataclass(frozen=True, slots=True)
class ServiceLevels:
    """Service levels of an environment.

    Attributes:
        loads: Expected load by variant, as ``name`` or ``namespace/name``.
        accelerators: Overrides by accelerator name, as variants use it.
        file: File of the settings, for messages.
    """

    classes: tuple[ServiceClass, ...] = ()
    loads: Mapping[str, Load] = field(default_factory=dict)
    accelerators: Mapping[str, Accelerator] = field(default_factory=dict)
    controller: VariantController = field(default_factory=VariantController)
    file: str = "<program>"

    def load(self, namespace: str, name: str) -> Load | None:
        """Return the expected load of a variant; None if none is set."""
        return self.loads.get(f"{namespace}/{name}") or self.loads.get(name)

    def classes_of(self, model: str) -> tuple[ServiceClass, ...]:
        """Return the classes that contain a model, which should be exactly one."""
        return tuple(service_class for service_class in self.classes if model in service_class.targets)
