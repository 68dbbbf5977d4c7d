"""Monitoring of an environment: PodMonitors, alerts, dashboard, and checks of Prometheus."""

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from ..checks.front_door.door import FrontDoorPlan
from ..checks.front_door.words import Exposure
from ..checks.metrics.chain import MetricChain
from ..checks.metrics.rules import adapter_config_map, has_rules
from ..checks.metrics.words import Adapter
from ..contract.findings.ids import RuleId
from ..contract.problems import Problem, Severity, some_of
from ..families import uninstallable
from ..fleet.nodes.groups import NodeGroupDemand
from ..fleet.objects import Object
from ..fleet.rendered import Fleet
from .environment import Environment
from .prerequisites.prometheus import PROMETHEUS_URL

if TYPE_CHECKING:
    from .prerequisites.needed import Prerequisite
    from .starts.budget import StartBudget

_NAME = "models"
_CONTROLLER = "wva"
"""The controller of variants (``objects.yaml`` of the prerequisites)."""
_SERVICE = r"https?://[^/.:]+\.(?P<namespace>[a-z0-9-]+)\.svc(\.cluster\.local)?\.?([:/]|\Z)"


def check_chain(chain: MetricChain, environment: Environment) -> Iterable[Problem]:
    """Report autoscalers without a server for their metrics, and models that cannot be monitored."""
    if environment.watched:
        yield from chain.left_out
    reason = ""
    if environment.operated and chain.scaled_objects:
        reason = (
            "keda cannot serve metrics to autoscalers that an operator creates; set adapter to prometheus-adapter"
        )
    elif Adapter.KEDA in environment.present and chain.adapter_rules["external"]:
        names = ", ".join(rule["name"]["as"] for rule in chain.adapter_rules["external"])
        reason = (
            f"keda, which is in the cluster already, serves the external metrics API, so {names} would be missing "
            "from it; set adapter to keda"
        )
    if reason:
        yield Problem(
            file=environment.file, path="prerequisites.adapter", reason=reason, rule=RuleId.METRICS_ADAPTER_MISSING
        )


def check_existing(chain: MetricChain, monitors: Sequence[Object], environment: Environment) -> Iterable[Problem]:
    """Report what an existing Prometheus and an existing adapter must have for these models, which no chart sets.

    Args:
        chain: The metrics of the autoscalers.
        monitors: PodMonitors and alerts that are created.
        environment: Where the models run.
    """
    metrics = environment.metrics
    # Dashboards are ConfigMaps, which no Prometheus selects.
    kinds = " and ".join(dict.fromkeys(f"{body['kind']}s" for body in monitors if body["kind"] != "ConfigMap"))
    if kinds and _is_present(environment) and not metrics.monitor_labels:
        yield Problem(
            file=environment.file,
            path="prerequisites.monitorLabels",
            reason=f"is not set, and kube-prometheus-stack selects {kinds} by the label release, with the name of "
            "its Helm release: without it the models are not scraped, and their autoscalers have no metrics; set "
            "{release: <its name>}, or podMonitorSelectorNilUsesHelmValues: false there",
            severity=Severity.WARNING,
            rule=RuleId.METRICS_UNSCRAPED,
        )
    adapter = Adapter.PROMETHEUS_ADAPTER
    config_map = environment.adapter_config_map
    if adapter not in environment.present or metrics.adapter != adapter or not has_rules(chain.adapter_rules):
        if config_map and environment.cluster is not None:
            reason = (
                "has no effect, because no autoscaler needs rules of a prometheus-adapter that is listed under "
                "present; remove it"
            )
            yield Problem(
                file=environment.file,
                path="prerequisites.adapterConfigMap",
                reason=reason,
                severity=Severity.NOTE,
                rule=RuleId.FIELD_NO_EFFECT,
            )
        return
    names = [rule["name"]["as"] for part in ("custom", "external") for rule in chain.adapter_rules[part]]
    if config_map:
        name = config_map.partition("/")[2]
        reason = (
            f"is created with the rules of {some_of(names)}; the existing prometheus-adapter reads it with the value "
            f"rules.existing: {name} of its chart, in its own namespace, and after a restart"
        )
        path, severity = "prerequisites.adapterConfigMap", Severity.NOTE
    else:
        reason = (
            f"the prometheus-adapter that is present has no rules for {some_of(names)} unless somebody adds them, so "
            "that autoscalers would have no metrics; add the stack output adapterRules to its chart value rules, or "
            "set prerequisites.adapterConfigMap; adapter 'keda' needs no rules"
        )
        path, severity = "prerequisites.present", Severity.WARNING
    yield Problem(
        file=environment.file, path=path, reason=reason, severity=severity, rule=RuleId.METRICS_ADAPTER_MISSING
    )


def check_scraper(environment: Environment, *, monitored: bool) -> Iterable[Problem]:
    """Report a Prometheus that network policies would block, and a namespace setting without effect."""
    reason = ""
    if environment.scraper and not environment.network_policies:
        reason = "has no effect without network policies; remove it, or set hardening.networkPolicies to true"
    elif environment.scraper and not _is_present(environment):
        reason = (
            "has no effect, because Prometheus is not listed under present; add it there, or remove the namespace"
        )
    elif monitored and environment.network_policies and not scraper_of(environment):
        reason = (
            "is required with network policies and a Prometheus that is present already; set it to the namespace of "
            "the pods that scrape"
        )
    if reason:
        yield Problem(
            file=environment.file, path="prerequisites.prometheusNamespace", reason=reason, rule=RuleId.SETTINGS
        )


def check_controller(needed: "Iterable[Prerequisite]", environment: Environment) -> Iterable[Problem]:
    """Reject a controller of variants without an https URL of Prometheus, and one that cannot be installed."""
    if not any(prerequisite.chart.name == _CONTROLLER for prerequisite in needed):
        return
    family, why = uninstallable(_CONTROLLER, environment.options.releases)
    if why:
        yield Problem(file=environment.file, path=f"releases.{family}", reason=why, rule=RuleId.OPERATOR_UNSUPPORTED)
    if not asked_over_https(environment):
        reason = (
            "is required: the controller of variants accepts only https URLs of Prometheus, and does not start "
            "otherwise; "
            f"{environment.metrics.prometheus} is not https. Set it to an https URL of Prometheus (with caSecret if "
            f"its certificate is not public), list {_CONTROLLER} under prerequisites.present if the controller is "
            "there already, or use realization 'native'"
        )
        yield Problem(
            file=environment.file, path="serviceLevels.controller.prometheusUrl", reason=reason, rule=RuleId.SETTINGS
        )


def asked_over_https(environment: Environment) -> str:
    """Return the https URL of Prometheus for the controller of variants; empty without one."""
    shared_url = environment.metrics.prometheus
    controller_url = environment.options.levels.controller.prometheus
    return controller_url or (shared_url if shared_url.startswith("https://") else "")


def scraper_of(environment: Environment) -> str | None:
    """Return the namespace of Prometheus: that of the installed one, or the one configured for an existing one."""
    if not _is_present(environment):
        return _prometheus_namespace()
    return environment.scraper or namespace_in(environment.metrics.prometheus)


def _prometheus_namespace() -> str:
    """Return the namespace of an installed Prometheus."""
    from .prerequisites.charts import charts

    return charts()["prometheus"].namespace


def namespace_in(url: str) -> str | None:
    """Return the namespace in the URL of a Service, such as http://prometheus.observability.svc:9090.

    The default URL is ignored, because it is not that of an existing Prometheus.
    """
    if url.startswith(PROMETHEUS_URL):
        return None
    match = re.match(_SERVICE, url)
    return match["namespace"] if match else None


def _is_present(environment: Environment) -> bool:
    return "prometheus" in environment.present


def has_prometheus(needed: "Iterable[Prerequisite]", environment: Environment) -> bool:
    """Return whether PodMonitors can be created: the API server rejects unknown kinds."""
    installed = environment.install and any(prerequisite.chart.name == "prometheus" for prerequisite in needed)
    return installed or _is_present(environment)


def monitoring_objects(
    chain: MetricChain,
    fleet: Fleet,
    groups: Iterable[NodeGroupDemand],
    environment: Environment,
    door: FrontDoorPlan,
    starts: "Mapping[str, StartBudget]",
) -> tuple[Object, ...]:
    """Return PodMonitors; with monitoring also that of the gateway, the alerts and the dashboard."""
    if not environment.watched:
        return chain.monitors
    from ..checks.front_door.monitors import gateway_monitor
    from ..checks.metrics.alerts import AlertSettings, prometheus_rule
    from ..checks.metrics.dashboard import BudgetedStart, DashboardSettings, dashboard_config_map
    from .starts.planned import title_of

    # An existing Prometheus may be anywhere; the namespace of the models always exists.
    namespace = environment.options.namespace if _is_present(environment) else _prometheus_namespace()
    rule = prometheus_rule(_NAME, namespace, fleet, AlertSettings(labels=environment.metrics.monitor_labels))
    gateway = bool(door.objects) and environment.door.expose == Exposure.GATEWAY
    budgeted = tuple(
        BudgetedStart(
            workload.name,
            workload.namespace,
            workload.pod_set.prefix or workload.name,
            starts[title_of(workload)].total.seconds,
        )
        for _, workload in fleet.workloads
        if title_of(workload) in starts
    )
    settings = DashboardSettings(costs=costs(groups, environment), gateway=gateway, starts=budgeted)
    dashboard = dashboard_config_map(_NAME, namespace, settings)
    metrics = environment.metrics
    proxies = gateway_monitor(environment.door, namespace, metrics.interval, metrics.monitor_labels)
    return (*chain.monitors, *([proxies] if gateway else []), *([rule] if rule else []), dashboard)


def adapter_objects(chain: MetricChain, environment: Environment) -> tuple[Object, ...]:
    """Return the ConfigMap with rules for an existing adapter, on request."""
    if not environment.adapter_config_map or not has_rules(chain.adapter_rules):
        return ()
    if Adapter.PROMETHEUS_ADAPTER not in environment.present:
        return ()
    return (adapter_config_map(environment.adapter_config_map, dict(chain.adapter_rules)),)


def costs(groups: Iterable[NodeGroupDemand], environment: Environment) -> dict[str, Decimal]:
    """Return the known on-demand prices of the instance types in use."""
    from ..fleet.cloud_providers import default_provider
    from ..fleet.prices import Buying

    prices = environment.cloud.provider.prices if environment.cloud else default_provider().prices
    region = (environment.cloud.region if environment.cloud else "") or prices.region
    known = {group.instance_type: prices.quoted(region, group.instance_type, Buying.ON_DEMAND) for group in groups}
    return {name: quote.usd for name, quote in known.items() if quote is not None}
