"""What a stack scrapes, shows and watches: computed here, registered with the rest."""

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal

from components.api.load import Manifests
from components.api.problems import Problem
from components.catalog.charts import charts
from components.catalog.instances import instance
from components.render.alerts import prometheus_rule
from components.render.dashboard import DashboardSettings, dashboard_config_map
from components.render.fleet import render_fleet
from components.render.metrics import MetricChain, metric_chain
from components.render.types import Fleet, NodeGroupDemand, Object

from .settings import Settings

_NAME = "models"
PRICED_REGION = "us-east-1"
"""The table of instances has prices of this region alone."""


def chain_of(manifests: Manifests, fleet: Fleet, settings: Settings) -> MetricChain:
    """Return what stands behind the autoscalers of a fleet.

    An operator's pods and autoscalers are those that the same resources give without it, as LeaderWorkerSets.
    """
    if settings.realization == "operator":
        options = replace(settings.options(), realization="native", workload="lws")
        fleet = render_fleet(manifests.resources, options, unread=manifests.problems)
    return metric_chain(fleet, settings.metrics())


def check_chain(chain: MetricChain, settings: Settings) -> Iterable[Problem]:
    """Report an operator's autoscalers that nobody would feed."""
    if settings.realization == "operator" and chain.scaled_objects:
        reason = "keda does not feed the autoscalers that an operator makes; set adapter to prometheus-adapter"
        yield Problem(settings.file, 0, "", "", "prerequisites.adapter", reason)


def monitoring_objects(
    chain: MetricChain, fleet: Fleet, groups: Iterable[NodeGroupDemand], settings: Settings
) -> tuple[Object, ...]:
    """Return PodMonitors, and where models are watched the alerts and the dashboard too."""
    if not settings.prerequisites.monitoring:
        return chain.monitors
    namespace = _namespace(settings)
    rule = prometheus_rule(_NAME, namespace, fleet)
    shown = dashboard_config_map(_NAME, namespace, DashboardSettings(costs=costs(groups, settings)))
    return (*chain.monitors, *([rule] if rule else []), shown)


def costs(groups: Iterable[NodeGroupDemand], settings: Settings) -> dict[str, Decimal]:
    """Return the on-demand price of each instance type in use, as far as it is known for the region."""
    if settings.region != PRICED_REGION:
        return {}
    known = {group.instance_type: instance(group.instance_type) for group in groups}
    return {name: facts.usd_per_hour for name, facts in known.items() if facts and facts.usd_per_hour is not None}


def _namespace(settings: Settings) -> str:
    """Where our own Prometheus is, its dashboards are; beside another's the models' namespace is sure to exist."""
    present = "prometheus" in settings.prerequisites.present
    return settings.namespace if present else charts()["prometheus"].namespace
