"""Service levels: what is promised for each model, how much is asked of it, and what accelerators cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

LOWEST_PRIORITY = 100
"""Of service classes; 1 is the highest priority (WVA spec 4)."""


@dataclass(frozen=True, slots=True)
class Promise:
    """What is promised for a model: whole milliseconds, 0 for no promise (WVA spec 4).

    Attributes:
        itl_ms: Mean time from one token of an answer to the next (inter-token latency).
        ttft_ms: Time to the first token that 95 % of the requests stay below.
    """

    itl_ms: int = 0
    ttft_ms: int = 0


@dataclass(frozen=True, slots=True)
class ServiceClass:
    """Models with one priority, and what is promised for each.

    Attributes:
        priority: 1 (highest) to 100.
        promises: By the name under which clients ask for a model.
    """

    name: str
    priority: int = LOWEST_PRIORITY
    promises: Mapping[str, Promise] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Load:
    """What is asked of one variant of a model.

    Attributes:
        per_minute: Requests a minute at the peak.
        least_per_minute: Requests a minute at the quietest time.
        input_tokens: Mean tokens of a prompt.
        output_tokens: Mean tokens of an answer.
    """

    per_minute: Decimal
    output_tokens: Decimal
    input_tokens: Decimal = Decimal(0)
    least_per_minute: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class Accelerator:
    """What one accelerator of a kind is, where the tables do not say it or shall not count.

    Attributes:
        cents_per_hour: Price of one, in US cents an hour; None for that of the tables.
        device: Label of the nodes that names the product; empty for that of the tables.
    """

    cents_per_hour: Decimal | None = None
    device: str = ""


@dataclass(frozen=True, slots=True)
class VariantController:
    """The controller that sizes variants in the cluster, with realization ``operator`` (WVA spec 4, 6).

    Attributes:
        prometheus: Its Prometheus, which it asks over https alone; empty where none is named.
        skip_verify: Whether it takes any certificate of that.
        scale_to_zero: Whether variants without load have no replica.
        interval: How often it decides, as a duration of Go.
        image: Its image; empty for the pinned one.
        ca_secret: Secret in its namespace whose key ``ca.crt`` has who signs the certificate of Prometheus; empty
            where everybody knows them.
    """

    prometheus: str = ""
    skip_verify: bool = False
    scale_to_zero: bool = False
    interval: str = "60s"
    image: str = ""
    ca_secret: str = ""


@dataclass(frozen=True, slots=True)
class ServiceLevels:
    """What an environment promises and expects.

    Attributes:
        loads: By variant, as ``name`` or ``namespace/name``.
        accelerators: By the name that variants give them.
        file: What to name in messages about all this.
    """

    classes: tuple[ServiceClass, ...] = ()
    loads: Mapping[str, Load] = field(default_factory=dict)
    accelerators: Mapping[str, Accelerator] = field(default_factory=dict)
    controller: VariantController = field(default_factory=VariantController)
    file: str = "<program>"

    def load(self, namespace: str, name: str) -> Load | None:
        """Return what is asked of a variant; None where nobody says."""
        return self.loads.get(f"{namespace}/{name}") or self.loads.get(name)

    def classes_of(self, model: str) -> tuple[ServiceClass, ...]:
        """Return the classes that promise something for a model; it should be in exactly one."""
        return tuple(each for each in self.classes if model in each.promises)
