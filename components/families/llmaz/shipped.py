"""The BackendRuntimes that llmaz ships."""

import functools
from importlib.resources import files
from typing import Any

from ...contract.kinds import Kinds
from ...contract.load import parse
from ...contract.releases import Span
from ...contract.tables import load_table
from ...engines.registry import engines
from ...fleet.words import Edition
from .kinds import BACKEND_RUNTIME, RELEASES
from .types import BackendRuntime


def shipped_names() -> tuple[str, ...]:
    """Return the names of the shipped BackendRuntimes."""
    return tuple(sorted(path.name.removesuffix(".yaml") for path in _folder().iterdir()))


@functools.lru_cache(maxsize=1024)
def shipped(name: str, edition: Edition = Edition.UPSTREAM, release: str = "") -> BackendRuntime | None:
    """Return a shipped BackendRuntime; None for a name that is not shipped.

    Args:
        name: Its name.
        edition: Its edition.
        release: The release whose operator is installed, with the runtimes of its chart; empty for our own.
    """
    if name not in shipped_names():
        return None
    if release:
        return _of_release(name, release)
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


def _of_release(name: str, release: str) -> BackendRuntime | None:
    runtime = shipped(name)
    for row in load_table(__package__, "shipped_earlier.yaml").get(name, ()):
        if runtime is None or not RELEASES.covers(Span(until=row["until"]), release):
            continue
        if row.get("absent"):
            return None
        spec = runtime.spec.model_copy(update={"version": row["version"]} if "version" in row else {})
        configs = [
            config.model_copy(
                update={"args": [arg for arg in config.args or () if arg not in row.get("without", ())]}
            )
            for config in spec.recommended_configs or ()
            if config.name in row.get("configs", (config.name,))
        ]
        runtime = runtime.model_copy(update={"spec": spec.model_copy(update={"recommended_configs": configs})})
    return runtime


def _folder() -> Any:  # noqa: ANN401  a Traversable, which the standard library moved between versions
    return files(__package__).joinpath("runtimes")
