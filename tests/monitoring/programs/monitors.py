"""Scrape jobs of PodMonitors whose pods are all played by one stand-in."""

from collections.abc import Mapping
from typing import Any

from livefleet.loop.monitors import scrape_job
from tests.monitoring.programs.prometheus import SCRAPE_INTERVAL

Json = dict[str, Any]
_META = "__meta_kubernetes_"


def exporter_job(monitor: Mapping[str, Any], file: str, exporter: str, interval: str = SCRAPE_INTERVAL) -> Json:
    """Return the scrape job of a PodMonitor, for targets from a file, at the interval of the tests.

    At the end, after the monitor's own relabelings, every target is moved to the stand-in for all pods; where
    Prometheus would have gone is left in ``instance`` and in the path.

    Args:
        monitor: the PodMonitor.
        file: with targets as ``targets_of`` makes them.
        exporter: address of the stand-in.
        interval: at which each target is scraped, and within which it must answer.
    """
    job = scrape_job(monitor, {"file_sd_configs": [{"files": [file]}]}, _moved(exporter))
    return {**job, "scrape_interval": interval}


def _moved(exporter: str) -> list[Json]:
    whole = [f"{_META}namespace", f"{_META}pod_name", "__metrics_path__"]
    return [
        {
            "source_labels": whole,
            "separator": ";",
            "regex": "(.+);(.+);(.+)",
            "replacement": "/$1/$2$3",
            "target_label": "__metrics_path__",
        },
        {"target_label": "__address__", "replacement": exporter},
    ]
