"""References to images: repository, tag and digest."""

import functools
from collections.abc import Iterable
from typing import NamedTuple


class Image(NamedTuple):
    """A reference such as ``registry:5000/vllm/vllm-openai:v0.20.0@sha256:...``; parts that are missing are empty."""

    repository: str
    tag: str
    digest: str


@functools.lru_cache(maxsize=4096)
def image_of(reference: str) -> Image:
    """Split a reference; a colon before the last slash is that of a registry's port."""
    name, _, digest = reference.partition("@")
    folder, slash, last = name.rpartition("/")
    last, _, tag = last.partition(":")
    return Image(folder + slash + last, tag, digest)


def is_one_of(repository: str, known: Iterable[str]) -> bool:
    """Tell whether a repository is a known one, in whatever registry or mirror."""
    return any(f"/{repository}".endswith(f"/{name}") for name in known)
