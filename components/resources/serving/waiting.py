"""Timeouts as options of resources."""

import pulumi

from ...fleet.timeouts import Timeouts


def custom_timeouts(timeouts: Timeouts | None) -> pulumi.CustomTimeouts | None:
    """Return the option ``custom_timeouts``; None to keep those of the provider."""
    return pulumi.CustomTimeouts(**timeouts.texts) if timeouts else None
