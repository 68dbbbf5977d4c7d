"""``workbench size``: compare replicas, latency and cost of a model across accelerators."""

from .command import register as register
