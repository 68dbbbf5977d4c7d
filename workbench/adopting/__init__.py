"""``workbench adopt`` and ``eject``: take over what serves models in a cluster, and leave it, without changing it."""

from .command import register as register
