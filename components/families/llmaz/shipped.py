"""The BackendRuntimes that llmaz ships."""

import functools
from importlib.resources import files
from typing import Any

from ...contract.kinds import Kinds
from ...contract.load import parse
from ...engines.registry import engines
from ...fleet.words import Edition
from .kinds import BACKEND_RUNTIME
from .types import BackendRuntime


def shipped_names() -> tuple[str, ...]:
    """Return the names of the shipped BackendRuntimes."""
    return tuple(sorted(path.name.removesuffix(".yaml") for path in _folder().iterdir()))


@functools.cache
def shipped(name: str, edition: Edition = Edition.UPSTREAM) -> BackendRuntime | None:
    """Return a shipped BackendRuntime in an edition; None for a name that is not shipped."""
    if name not in shipped_names():
        return None
    loaded = parse(
        _folder().joinpath(f"{name}.yaml").read_text(encoding="utf-8"), Kinds([BACKEND_RUNTIME]), f"{name}.yaml"
    )
    runtime = loaded.resources[0].resource
    assert isinstance(runtime, BackendRuntime), loaded.problems  # noqa: S101  our own data, checked by a test
    if edition == Edition.UPSTREAM:
        return runtime
    pinned = engines()[name].current_image
    assert pinned, name  # noqa: S101  our own data, checked by a test
    spec = runtime.spec.model_copy(update={"image": pinned.repository, "version": pinned.tag})
    return runtime.model_copy(update={"spec": spec})


def _folder() -> Any:  # noqa: ANN401  a Traversable, which the standard library moved between versions
    return files(__package__).joinpath("runtimes")
