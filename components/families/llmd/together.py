"""What VariantAutoscalings have once for all of them: the ConfigMaps about accelerators and service classes.

The third one, with settings, comes with the controller, whose pods do not start without it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...api.problems import Problem
from ...fleet.library import Library
from ...fleet.objects import Object, key_of
from ...fleet.options import Options
from ...fleet.rendered import Rendered
from .checks.together import check_together
from .controller.config_maps import check_maps, classes_map, costs_map
from .names import ACCELERATOR_LABEL


def in_common(
    items: Sequence[Rendered], _library: Library, options: Options
) -> tuple[list[Problem], tuple[Rendered, ...]]:
    """Return the ConfigMaps that the controller reads; none natively. What is wrong between variants is told too."""
    problems = list(check_together(items, native=options.realization.is_native))
    if options.realization.is_native:
        return problems, ()
    maps = (costs_map(dict(_prices(items, options))), classes_map(options.levels.classes))
    problems += check_maps(options.levels, maps)
    return problems, tuple(_item(body, items[0]) for body in maps)


def _prices(items: Sequence[Rendered], options: Options) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield what the accelerators cost that variants run on."""
    for item in items:
        name = item.source.resource.metadata.labels.get(ACCELERATOR_LABEL, "")
        stated = options.levels.accelerators.get(name)
        if stated and stated.cents_per_hour is not None:
            yield name, (stated.device, f"{stated.cents_per_hour:.2f}")


def _item(body: Object, first: Rendered) -> Rendered:
    """Return an object as an item of its own. Its source is a copy: it is not what the first resource becomes."""
    kind, namespace, name = key_of(body)
    return Rendered(replace(first.source), kind, name, namespace, others=(body,))
