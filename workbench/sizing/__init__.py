"""``workbench size``: replicas, latency and cost of a model on several accelerators."""

from .command import register as register
