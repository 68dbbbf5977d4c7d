"""Whether the costs of the variants of a model agree with their prices, and whether anything compares them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations

from ....contract.findings.ids import RuleId
from ....contract.problems import Problem, Severity
from ....fleet.library import Library
from ....fleet.options import Options
from ....fleet.rendered import Rendered
from ..costs import UnitCost, replica_cost
from ..names import ACCELERATOR_LABEL
from ..types import VariantAutoscaling
from ..variant import target_of

_PATH = "spec.variantCost"
DEFAULT_COST = "10.0"
"""Cost of a replica that sets none (config/crd at v0.0.5 and later)."""


@dataclass(frozen=True, slots=True)
class _Variant:
    """A variant with the cost that counts for it, and the price of a replica, if it is known."""

    item: Rendered
    written: str | None
    price: UnitCost | None

    @property
    def cost(self) -> Decimal:
        return Decimal(self.written or DEFAULT_COST)


def check_costs(items: Sequence[Rendered], library: Library, options: Options) -> Iterator[Problem]:
    """Yield problems of the costs of variants that are compared with each other: those of a model in a namespace.

    A single variant is compared with nothing, and variants without any cost are of a release that has none.
    """
    models: dict[tuple[str, str], list[_Variant]] = {}
    for item in items:
        resource = item.source.resource
        if isinstance(resource, VariantAutoscaling):
            scaled = library.workload(item.namespace, target_of(resource)[0])
            accelerator = resource.metadata.labels.get(ACCELERATOR_LABEL, "")
            price = replica_cost(scaled[1], options.levels, accelerator) if scaled else None
            variant = _Variant(item, resource.spec.variant_cost, price)
            models.setdefault((item.namespace, resource.spec.model_id), []).append(variant)
    for variants in models.values():
        if len(variants) > 1 and any(variant.written for variant in variants):
            yield from _differing_prices(variants)
            if options.realization.is_native:
                yield from _uncompared(variants)


def _differing_prices(variants: Sequence[_Variant]) -> Iterator[Problem]:
    """Yield variants whose costs are not in the order of their prices."""
    for one, other in combinations(variants, 2):
        if one.price is None or other.price is None or one.price.text == other.price.text:
            continue
        cheap, dear = sorted((one, other), key=lambda variant: variant.price.cents_per_hour if variant.price else 0)
        assert cheap.price  # noqa: S101  both have one
        assert dear.price  # noqa: S101
        if cheap.cost < dear.cost:
            continue
        written = "" if dear.written else ", the default,"
        yield dear.item.source.problem(
            _PATH,
            f"{dear.cost}{written} is not above the {cheap.cost} of {cheap.item.source.where}, but a replica costs "
            f"{dear.price.text} cents/h here ({dear.price.source}) and {cheap.price.text} there "
            f"({cheap.price.source}), so the controller would add the dearer one; write these prices in both",
            Severity.WARNING,
            rule=RuleId.SIZING_INCONSISTENT,
        )


def _uncompared(variants: Sequence[_Variant]) -> Iterator[Problem]:
    first, *rest = variants
    for variant in rest:
        yield variant.item.source.problem(
            _PATH,
            f"has no effect natively: {first.item.source.where} and this one scale the same model, each by its own "
            "metrics, where the controller would add replicas to the cheaper one first; use realization 'operator', "
            "or keep one of the two",
            Severity.WARNING,
            rule=RuleId.NATIVE_DIFFERS,
        )
