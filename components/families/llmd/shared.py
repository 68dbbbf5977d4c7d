"""Render the ConfigMaps that all VariantAutoscalings share: accelerator prices and service classes.

The third ConfigMap, the settings, comes with the controller, whose pods do not start without it.
"""

from collections.abc import Sequence
from dataclasses import replace

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem
from ...fleet.library import Library
from ...fleet.objects import key_of
from ...fleet.options import Options
from ...fleet.rendered import Rendered
from .checks.accelerator import LABEL_PATH
from .checks.conflicts import check_conflicts, unused_settings
from .checks.variant_costs import check_costs
from .controller.config_maps import check_sizes, classes_map, costs_map
from .costs import UnitCost, conflicting, unit_cost
from .names import ACCELERATOR_LABEL
from .releases import controller_of
from .types import VariantAutoscaling
from .variant import target_of


def shared_objects(
    items: Sequence[Rendered], library: Library, options: Options
) -> tuple[list[Problem], tuple[Rendered, ...]]:
    """Return conflicts between variants, and the controller's ConfigMaps, which native realization does not have."""
    controller = None if options.realization.is_native else controller_of(items[0].source.kind)
    problems = list(check_conflicts(items, controller))
    problems += check_costs(items, library, options)
    problems += unused_settings(library, options.levels)
    if controller is None or not controller.reads_maps:
        return problems, ()
    by_title = {item.source.where: item for item in items}
    costs = [(item.source.where, cost) for item in items if (cost := _cost(item, library, options))]
    # Later ones read prices and service classes with an experimental setting alone.
    problems += [
        by_title[title].source.problem(LABEL_PATH, reason, rule=RuleId.SIZING_CONFLICT)
        for title, reason in (conflicting(costs) if controller.computes_size else ())
    ]
    prices = {cost.accelerator: (cost.device, cost.text) for _, cost in costs}
    maps = (costs_map(prices), classes_map(options.levels.classes))
    problems += check_sizes(options.levels, maps)
    rendered = []
    for body in maps:
        kind, namespace, name = key_of(body)
        # A copy of the source marks an object of the family, not what the first resource becomes.
        rendered.append(Rendered(replace(items[0].source), kind, name, namespace, others=(body,)))
    return problems, tuple(rendered)


def _cost(item: Rendered, library: Library, options: Options) -> UnitCost | None:
    """Return the price of a variant's accelerator; None if unknown, which is an error of the variant."""
    resource = item.source.resource
    assert isinstance(resource, VariantAutoscaling)  # noqa: S101  all items are of this family's kind
    accelerator = resource.metadata.labels.get(ACCELERATOR_LABEL, "")
    scaled = library.workload(item.namespace, target_of(resource)[0])
    return unit_cost(accelerator, options.levels, scaled[1] if scaled else None)
