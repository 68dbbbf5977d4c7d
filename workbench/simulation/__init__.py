"""``workbench simulate``: what an autoscaler would have done."""

from .command import register as register
