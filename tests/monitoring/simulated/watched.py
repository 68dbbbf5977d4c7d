"""A fleet under a real Prometheus: scraped by the generated PodMonitors, asked with the generated queries."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from livefleet.loop.monitors import targets_of
from tests.monitoring.programs.monitors import exporter_job
from tests.monitoring.programs.prometheus import SCRAPE_INTERVAL, Prometheus
from tests.monitoring.programs.rules import promql
from tests.monitoring.simulated.exporter import Exporter
from tests.monitoring.simulated.fleets import Made

Json = dict[str, Any]
_PODS = "pods.json"


@dataclass(frozen=True, slots=True)
class Watched:
    """A fleet, and the Prometheus that scrapes its pods."""

    made: Made
    prometheus: Prometheus
    exporter: Exporter

    def scrape(self, pods: Iterable[Mapping[str, Any]], *jobs: Json, interval: str = SCRAPE_INTERVAL) -> None:
        """Let Prometheus find these pods, under the generated PodMonitors and further jobs."""
        address = self.exporter.address
        monitors = [exporter_job(monitor, _PODS, address, interval) for monitor in self.made.chain.monitors]
        targets = [target for pod in pods for target in targets_of(pod)]
        config = {"global": {"scrape_interval": interval}, "scrape_configs": [*monitors, *jobs]}
        self.prometheus.configure(config, {_PODS: targets})

    def series(self, rule: Mapping[str, Any]) -> str:
        """Return the series that the adapter finds for a rule."""
        found = self.prometheus.get("series", **{"match[]": rule["seriesQuery"]})
        (name,) = {each["__name__"] for each in found}
        return str(name)

    def per_pod(self, metric: str, namespace: str, *pods: str) -> dict[str, float]:
        """Return a custom metric of pods, asked as the adapter asks for it."""
        rule = self.made.rule(metric)
        label = {resource["resource"]: name for name, resource in rule["resources"]["overrides"].items()}
        matchers = f'{label["namespace"]}="{namespace}",{label["pod"]}=~"{"|".join(pods)}"'
        query = promql(rule, self.series(rule), matchers, label["pod"])
        return {sample.labels[label["pod"]]: sample.value for sample in self.prometheus.query(query)}

    def external(self, metric: str, namespace: str, **selector: str) -> list[float]:
        """Return the values of an external metric, asked as the adapter asks for an autoscaler of a namespace."""
        rule = self.made.rule(metric, "external")
        overrides = rule["resources"].get("overrides", {})
        label = {resource["resource"]: name for name, resource in overrides.items()}
        matchers = {**({label["namespace"]: namespace} if label else {}), **selector}
        written = ",".join(f'{name}="{value}"' for name, value in matchers.items())
        query = promql(rule, self.series(rule), written, "namespace")
        return [sample.value for sample in self.prometheus.query(query)]


def replicas(values: Iterable[float], target: float) -> int:
    """What an autoscaler wants of one value per pod: ceil(pods x average / target) (lws-hpa spec 2.4)."""
    return math.ceil(sum(values) / target)
