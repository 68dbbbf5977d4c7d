"""``workbench adopt``: take over what already serves models in a cluster, without changing it."""

from .command import register as register
