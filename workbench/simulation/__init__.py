"""``workbench simulate``: replay a metrics trace through an autoscaler."""

from .command import register as register
