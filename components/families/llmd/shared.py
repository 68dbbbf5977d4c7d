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
from .controller.config_maps import check_sizes, classes_map, costs_map
from .costs import UnitCost, conflicting, unit_cost
from .names import ACCELERATOR_LABEL


def shared_objects(
    items: Sequence[Rendered], library: Library, options: Options
) -> tuple[list[Problem], tuple[Rendered, ...]]:
    """Return conflicts between variants, and the controller's ConfigMaps, which native realization does not have."""
    problems = list(check_conflicts(items, native=options.realization.is_native))
    problems += unused_settings(library, options.levels)
    if options.realization.is_native:
        return problems, ()
    by_title = {item.source.where: item for item in items}
    costs = [(item.source.where, cost) for item in items if (cost := _cost(item, library, options))]
    problems += [
        by_title[title].source.problem(LABEL_PATH, reason, rule=RuleId.SIZING_CONFLICT)
        for title, reason in conflicting(costs)
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
    accelerator = item.source.resource.metadata.labels.get(ACCELERATOR_LABEL, "")
    scaled = library.workload(item.namespace, item.name)
    return unit_cost(accelerator, options.levels, scaled[1] if scaled else None)
