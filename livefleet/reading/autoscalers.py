"""Find the autoscalers that will not scale, because the workbench does not simulate what they read."""

from collections import defaultdict
from typing import TYPE_CHECKING

from components.engines.metrics import gateway_metrics
from components.fleet.autoscalers import Autoscaler
from components.fleet.words import CUSTOM_METRICS, EXTERNAL_METRICS, RESOURCE_METRICS

if TYPE_CHECKING:
    from components.plan.plan import Plan

_SERVING = frozenset({CUSTOM_METRICS, EXTERNAL_METRICS})


def reads_simulated_metrics(planned: "Plan", scaler: Autoscaler) -> bool:
    """Tell whether the cluster's HPA controller scales a workload, by metrics that are simulated."""
    return bool(scaler.apis & _SERVING) and not scaler.operated and not _rest_reason(planned, scaler)


def at_rest(planned: "Plan") -> tuple[str, ...]:
    """Return a message for each reason why autoscalers will not change the number of replicas."""
    targets: dict[str, list[str]] = defaultdict(list)
    for _, scaler in planned.fleet.autoscalers:
        reason = _rest_reason(planned, scaler)
        if reason:
            targets[reason].append(f"{scaler.target[1]}/{scaler.target[2]}")
    return tuple(
        f"{reason}: {', '.join(sorted(names))} keep their replicas" for reason, names in sorted(targets.items())
    )


def _rest_reason(planned: "Plan", scaler: Autoscaler) -> str:
    """Return why an autoscaler does nothing; empty if it scales, or if an operator would create it."""
    if scaler.operated:
        return ""
    if scaler.replacement is not None:
        return f"what follows {scaler.body['kind']}s does not run on the workbench"
    if scaler.apis == {RESOURCE_METRICS}:
        return "nothing on the workbench uses CPU or memory"
    # External metrics that no simulated engine emits; those of gateways need a real one.
    of_gateways = {name for metric in gateway_metrics() for name in (metric.name, metric.neutral)}
    emitted = {rule["name"]["as"] for rule in planned.chain.adapter_rules["external"]} - of_gateways
    metrics = scaler.hpa["spec"].get("metrics") or ()
    external = {metric["external"]["metric"]["name"] for metric in metrics if metric.get("type") == "External"}
    missing = sorted(external - emitted)
    if missing and len(missing) == len(metrics):
        return f"nothing on the workbench emits {', '.join(missing)}"
    return ""
