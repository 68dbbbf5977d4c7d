"""A stack that reaches no cluster."""

from tests.engine.conftest import offline as offline
