"""``workbench plan``: memory fit, cost, findings, and the effect of a change on running workloads."""

from .command import register as register
