"""Image references: registry, repository, tag, and digest."""

import functools
import re
from collections.abc import Iterable
from typing import NamedTuple

DOCKER_HUB = "docker.io"
"""The default registry."""
_DOCKER_HUB_HOSTS = frozenset({DOCKER_HUB, "index.docker.io", "registry-1.docker.io"})
_OFFICIAL = "library/"
"""Folder on Docker Hub of images whose references have none."""
_REFERENCE = re.compile(
    r"[a-z0-9]+((\.|_|__|-+|/)[a-z0-9]+)*(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@[a-z0-9]+:[0-9a-f]{32,})?", re.ASCII
)
"""A path with tag and digest, as containerd reads them (distribution/reference v0.6.0, regexp.go)."""


class Image(NamedTuple):
    """A reference such as ``registry:5000/vllm/vllm-openai:v0.20.0@sha256:...``; missing parts are empty."""

    repository: str
    tag: str
    digest: str


class PullReference(NamedTuple):
    """A reference as a container runtime completes it.

    Attributes:
        registry: Host of the registry, such as ``docker.io``.
        path: The rest: repository, tag and digest, such as ``library/busybox:1.36``.
    """

    registry: str
    path: str


@functools.lru_cache(maxsize=4096)
def parse_image(reference: str) -> Image:
    """Split a reference; a colon before the last slash belongs to the port of the registry."""
    name, _, digest = reference.partition("@")
    folder, slash, last = name.rpartition("/")
    last, _, tag = last.partition(":")
    return Image(folder + slash + last, tag, digest)


@functools.lru_cache(maxsize=4096)
def pull_reference(reference: str) -> PullReference | None:
    """Return the registry and path of a reference; None if it is invalid.

    The part before the first slash is the registry if it has a dot or a port, or is ``localhost``. The default is
    Docker Hub, where images without a folder are in ``library`` (distribution/reference v0.6.0, normalize.go:
    splitDockerDomain).
    """
    first, slash, rest = reference.partition("/")
    has_registry = bool(slash) and ("." in first or ":" in first or first == "localhost")
    registry, path = (first, rest) if has_registry else (DOCKER_HUB, reference)
    if registry in _DOCKER_HUB_HOSTS:
        registry = DOCKER_HUB
        path = path if "/" in path else _OFFICIAL + path
    return PullReference(registry, path) if _REFERENCE.fullmatch(path) else None


def is_one_of(repository: str, known: Iterable[str]) -> bool:
    """Return whether a repository is a known one, in any registry or mirror."""
    return any(f"/{repository}".endswith(f"/{name}") for name in known)
