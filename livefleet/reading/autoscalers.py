"""Find the autoscalers that will not scale, because the workbench does not simulate what they read."""

from collections import defaultdict
from typing import TYPE_CHECKING

from components.engines.metrics import gateway_metrics
from components.fleet.autoscalers import Autoscaler
from components.fleet.words import CUSTOM_METRICS, EXTERNAL_METRICS, RESOURCE_METRICS

if TYPE_CHECKING:
    from components.plan.plan import Plan

_SERVING = frozenset({CUSTOM_METRICS, EXTERNAL_METRICS})


def reads_played_metrics(planned: "Plan", scaler: Autoscaler) -> bool:
    """Tell whether the cluster's HPA controller scales a workload, by metrics that are simulated."""
    return bool(scaler.apis & _SERVING) and not scaler.operated and not _why(planned, scaler)


def at_rest(planned: "Plan") -> tuple[str, ...]:
    """Return a message for each reason why autoscalers will not change the number of replicas."""
    targets: dict[str, list[str]] = defaultdict(list)
    for _, scaler in planned.fleet.autoscalers:
        why = _why(planned, scaler)
        if why:
            targets[why].append(f"{scaler.target[1]}/{scaler.target[2]}")
    return tuple(f"{why}: {', '.join(sorted(names))} keep their replicas" for why, names in sorted(targets.items()))


def _why(planned: "Plan", scaler: Autoscaler) -> str:
    """Return why an autoscaler does nothing; empty if it scales, or if an operator would create it."""
    if scaler.operated:
        return ""
    if scaler.replacement is not None:
        return f"what follows a {scaler.body['kind']} does not run on the workbench"
    if scaler.apis == {RESOURCE_METRICS}:
        return "nothing on the workbench uses CPU or memory"
    missing = _unemitted(planned, scaler)
    if missing and len(missing) == len(scaler.hpa["spec"].get("metrics") or ()):
        return f"nothing on the workbench emits {', '.join(missing)}"
    return ""


def _unemitted(planned: "Plan", scaler: Autoscaler) -> list[str]:
    """Return the external metrics of an autoscaler that no engine emits."""
    of_gateways = {name for metric in gateway_metrics() for name in (metric.name, metric.neutral)}
    emitted = {rule["name"]["as"] for rule in planned.chain.adapter_rules["external"]} - of_gateways
    metrics = scaler.hpa["spec"].get("metrics") or ()
    names = (metric["external"]["metric"]["name"] for metric in metrics if metric.get("type") == "External")
    return sorted({name for name in names if name not in emitted})
