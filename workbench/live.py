"""``workbench live load``, ``watch``, ``fault`` and ``speed``: the commands of the live fleet."""

from livefleet import register_commands as register

__all__ = ["register"]
