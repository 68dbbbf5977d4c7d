"""``workbench plan``: whether it fits, what it costs, what is wrong, and what a change does to what runs."""

from .command import register as register
