"""What VariantAutoscalings have once for all of them: the ConfigMaps about accelerators and service classes.

The third one, with settings, comes with the controller, whose pods do not start without it.
"""

from collections.abc import Sequence
from dataclasses import replace

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem
from ...fleet.library import Library
from ...fleet.objects import Object, key_of
from ...fleet.options import Options
from ...fleet.rendered import Rendered
from .checks.accelerator import LABEL_PATH
from .checks.together import check_together
from .checks.unused import check_settings
from .controller.config_maps import check_sizes, classes_map, costs_map
from .costs import UnitCost, conflicting, unit_cost
from .names import ACCELERATOR_LABEL


def in_common(
    items: Sequence[Rendered], library: Library, options: Options
) -> tuple[list[Problem], tuple[Rendered, ...]]:
    """Return the ConfigMaps that the controller reads; none natively. What is wrong between variants is told too."""
    problems = list(check_together(items, native=options.realization.is_native))
    problems += check_settings(library, options.levels)
    if options.realization.is_native:
        return problems, ()
    by_title = {item.source.where: item for item in items}
    costs = [(item.source.where, cost) for item in items if (cost := _cost(item, library, options))]
    problems += [
        by_title[who].source.problem(LABEL_PATH, reason, rule=RuleId.SIZING_CONFLICT)
        for who, reason in conflicting(costs)
    ]
    prices = {cost.accelerator: (cost.device, cost.text) for _, cost in costs}
    maps = (costs_map(prices), classes_map(options.levels.classes))
    problems += check_sizes(options.levels, maps)
    return problems, tuple(_item(body, items[0]) for body in maps)


def _cost(item: Rendered, library: Library, options: Options) -> UnitCost | None:
    """Return what the accelerator costs that a variant runs on; None where that is an error of the variant."""
    accelerator = item.source.resource.metadata.labels.get(ACCELERATOR_LABEL, "")
    found = library.workload(item.namespace, item.name)
    return unit_cost(accelerator, options.levels, found[1] if found else None)


def _item(body: Object, first: Rendered) -> Rendered:
    """Return an object as an item of its own. Its source is a copy: it is not what the first resource becomes."""
    kind, namespace, name = key_of(body)
    return Rendered(replace(first.source), kind, name, namespace, others=(body,))
