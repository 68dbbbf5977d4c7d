"""How the Cluster Autoscaler chooses among node groups that a pending pod fits.

kubernetes/autoscaler: expander/factory/chain.go (each expander keeps some options for the next one),
expander/priority/priority.go (the options whose names match a pattern of the highest priority; all of them where none
match), expander/waste/waste.go (the options that leave the least CPU and memory unused).
"""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import yaml


def chosen(values: Mapping[str, Any], unused: Mapping[str, Decimal]) -> set[str]:
    """Return the Auto Scaling groups of which one grows.

    Args:
        values: Values of the autoscaler's chart.
        unused: Groups that a pod fits, with the share of CPU plus that of memory that it leaves unused there.
    """
    options = dict(unused)
    for expander in values["extraArgs"]["expander"].split(","):
        if expander == "priority":
            options = _first(yaml.safe_load(values["expanderPriorities"]), options)
        else:
            assert expander == "least-waste"
            options = {name: share for name, share in options.items() if share == min(options.values())}
    return set(options)


def _first(priorities: Mapping[int, list[str]], options: Mapping[str, Decimal]) -> dict[str, Decimal]:
    by_name = {
        name: max(priority for priority, patterns in priorities.items() if any(re.search(p, name) for p in patterns))
        for name in options
        if any(re.search(p, name) for patterns in priorities.values() for p in patterns)
    }
    if not by_name:
        return dict(options)
    return {name: options[name] for name, priority in by_name.items() if priority == max(by_name.values())}
