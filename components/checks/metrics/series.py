"""The panels and alerts that are made of metrics, as they are written."""

import functools
from collections.abc import Mapping
from typing import Any

from ...contract.tables import load_table


@functools.cache
def panel_rows() -> tuple[Mapping[str, Any], ...]:
    """Return the rows of the dashboard."""
    return tuple(load_table(__package__, "dashboard.yaml"))


@functools.cache
def alert_rows() -> tuple[Mapping[str, Any], ...]:
    """Return the alerts."""
    return tuple(load_table(__package__, "alerts.yaml"))
