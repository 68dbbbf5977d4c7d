"""``workbench fit``: the accelerators that a model fits, with context, users, speed and price."""

from .command import register as register
