"""What an environment scrapes, shows and watches."""

from collections.abc import Iterable
from decimal import Decimal

from ..api.problems import Problem
from ..fleet.objects import Object
from ..fleet.rendered import Fleet
from ..front_door.door import FrontDoorPlan
from ..front_door.monitors import gateway_monitor
from ..front_door.words import Exposure
from ..metrics.alerts import prometheus_rule
from ..metrics.chain import MetricChain
from ..metrics.dashboard import DashboardSettings, dashboard_config_map
from ..nodes.groups import NodeGroupDemand
from ..nodes.instances import PRICED_REGION, instance
from ..prerequisites.charts import charts
from ..prerequisites.needed import Prerequisite
from .environment import Environment

_NAME = "models"


def check_chain(chain: MetricChain, environment: Environment) -> Iterable[Problem]:
    """Report an operator's autoscalers that would get no metrics."""
    if environment.operated and chain.scaled_objects:
        reason = (
            "keda cannot serve metrics to autoscalers that an operator creates; set adapter to prometheus-adapter"
        )
        yield Problem(environment.file, 0, "", "", "prerequisites.adapter", reason)


def has_prometheus(needed: Iterable[Prerequisite], environment: Environment) -> bool:
    """Tell whether PodMonitors can be created: the API server rejects unknown kinds."""
    installed = environment.install and any(each.chart.name == "prometheus" for each in needed)
    return installed or "prometheus" in environment.present


def monitoring_objects(
    chain: MetricChain,
    fleet: Fleet,
    groups: Iterable[NodeGroupDemand],
    environment: Environment,
    door: FrontDoorPlan,
) -> tuple[Object, ...]:
    """Return PodMonitors, and where models are watched those of their gateway, the alerts and the dashboard too."""
    if not environment.watched:
        return chain.monitors
    namespace = _namespace(environment)
    rule = prometheus_rule(_NAME, namespace, fleet)
    gateway = bool(door.objects) and environment.door.expose == Exposure.GATEWAY
    settings = DashboardSettings(costs=costs(groups, environment), gateway=gateway)
    shown = dashboard_config_map(_NAME, namespace, settings)
    metrics = environment.metrics
    proxies = gateway_monitor(environment.door, namespace, metrics.interval, metrics.monitor_labels)
    return (*chain.monitors, *([proxies] if gateway else []), *([rule] if rule else []), shown)


def costs(groups: Iterable[NodeGroupDemand], environment: Environment) -> dict[str, Decimal]:
    """Return the on-demand price of each instance type in use, as far as it is known for the region."""
    if environment.aws and environment.aws.region != PRICED_REGION:
        return {}
    known = {group.instance_type: instance(group.instance_type) for group in groups}
    return {name: facts.usd_per_hour for name, facts in known.items() if facts and facts.usd_per_hour is not None}


def _namespace(environment: Environment) -> str:
    """Where our own Prometheus is, its dashboards are; beside another's the models' namespace is sure to exist."""
    present = "prometheus" in environment.present
    return environment.options.namespace if present else charts()["prometheus"].namespace
