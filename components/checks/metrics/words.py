"""Options for collecting metrics."""

from ...contract.words import Word


class Adapter(Word):
    """What serves metrics to autoscalers: a chart, by its name."""

    PROMETHEUS_ADAPTER = "prometheus-adapter"
    """HorizontalPodAutoscalers are kept."""
    KEDA = "keda"
    """ScaledObjects take the place of those that read Prometheus."""


class Scrape(Word):
    """Which workloads Prometheus scrapes."""

    ALL = "all"
    """All that export metrics."""
    USED = "used"
    """Those that an autoscaler reads."""
