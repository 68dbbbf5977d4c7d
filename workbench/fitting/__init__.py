"""``workbench fit-profile``: how fast a model generates tokens, from benchmarks of one's own."""

from .command import register as register
