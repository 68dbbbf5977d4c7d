"""Waiting for what controllers do."""

import http
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from toolkit.kube import Kube, KubeError

Json = dict[str, Any]
SECONDS = 60.0
"""Many times what anything takes here, for a machine that is busy; whatever comes is not waited for any longer."""


def eventually(condition: Callable[[], Any], what: str) -> Any:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        result = condition()
        if result:
            return result
        time.sleep(0.1)
    return pytest.fail(f"{what}: not within {SECONDS:.0f} s")


def gone(kube: Kube, api_version: str, kind: str, name: str, namespace: str | None = None) -> bool:
    try:
        kube.get(api_version, kind, name, namespace)
    except KubeError as error:
        if error.status == http.HTTPStatus.NOT_FOUND:
            return True
        raise
    return False


@contextmanager
def unless_gone() -> Iterator[None]:
    """Tolerate that a controller has deleted an object after it was listed."""
    try:
        yield
    except KubeError as error:
        if error.status != http.HTTPStatus.NOT_FOUND:
            raise
