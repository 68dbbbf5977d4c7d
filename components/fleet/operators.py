"""What an operator is told of the cluster, if no chart installs it: then a family renders its objects."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..sizing.levels import ServiceLevels


@dataclass(frozen=True, slots=True)
class OperatorSite:
    """Where an operator runs.

    Attributes:
        levels: What is promised and expected of models, with what the operator is told.
        interval: How often its metrics are scraped, such as ``15s``.
        monitor_labels: Labels by which Prometheus finds what it shall scrape, beside those of its chart.
        scraper: Namespace of the pods that scrape; empty where it is not known.
        account: ServiceAccount of these pods; empty for any of that namespace.
        guarded: Whether only they may connect to the operator.
    """

    levels: ServiceLevels = field(default_factory=ServiceLevels)
    interval: str = "15s"
    monitor_labels: Mapping[str, str] = field(default_factory=dict)
    scraper: str = ""
    account: str = ""
    guarded: bool = False
