"""The one line that a cloud adds to components/clouds/__init__.py, for a while."""

from collections.abc import Iterator
from contextlib import contextmanager

from components.fleet.clouds import register, unregister

from .instances import cloud_facts
from .provider import provider


@contextmanager
def registered() -> Iterator[None]:
    """Register the toy cloud."""
    register("toy", cloud_facts, provider)
    try:
        yield
    finally:
        unregister("toy")
