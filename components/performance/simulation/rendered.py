"""Inputs of a simulation from a rendered fleet: the HorizontalPodAutoscalers of its targets, and prices."""

from collections.abc import Mapping
from decimal import Decimal

from ...fleet.autoscalers import Autoscaler
from ...fleet.rendered import Fleet
from .hpa.spec import HpaError, HpaSpec, name_in, read_spec
from .prices import replica_price
from .scenario import Scenario


def hpas_of(fleet: Fleet, scenario: Scenario) -> dict[str, HpaSpec]:
    """Return the HorizontalPodAutoscaler that is rendered for each target.

    Raises:
        HpaError: the binding has no autoscaler, or it reads metrics that the trace lacks.
    """
    scalers = {scaler.target[1:]: scaler for _, scaler in fleet.autoscalers if scaler.is_created}
    specs = {}
    for target in scenario.targets:
        scaler = scalers.get((scenario.namespace, target.name))
        if scaler is None:
            raise HpaError(
                f"no HorizontalPodAutoscaler is rendered for {target.name!r}, target of {scenario.sources[0].title}"
                "; pass the manifest of the target too, with realization native"
            )
        specs[target.name] = read_spec(scaler.hpa["spec"], _columns(scaler, scenario))
    return specs


def prices_of(fleet: Fleet, scenario: Scenario) -> dict[str, Decimal]:
    """Return the price of a replica of each target, in US dollars per hour, if known."""
    names = {target.name for target in scenario.targets}
    prices = {
        workload.name: replica_price(workload.pods)
        for _, workload in fleet.workloads
        if workload.namespace == scenario.namespace and workload.name in names
    }
    return {name: price for name, price in prices.items() if price is not None}


def _columns(scaler: Autoscaler, scenario: Scenario) -> Mapping[str, str]:
    """Return the trace column of each metric of an autoscaler."""
    # The metrics are rendered in the order of the policy.
    names = [name_in(metric) for metric in scaler.hpa["spec"].get("metrics") or ()]
    known = list(scenario.metrics)
    if len(names) != len(known):
        others = ", ".join(name for name in names if name not in known) or "none"
        raise HpaError(
            f"the HorizontalPodAutoscaler {scaler.name} has {len(names)} metrics and {scenario.sources[1].title} "
            f"{len(known)} (only there: {others}); write one policy for both"
        )
    return {name: name if name in known else column for name, column in zip(names, known, strict=True)}
