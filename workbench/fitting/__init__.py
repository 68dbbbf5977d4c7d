"""``workbench dev fit-profile``: fit a performance profile to benchmark results."""

from .command import register as register
