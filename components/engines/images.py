"""References to images: repository, tag and digest."""

from typing import NamedTuple


class Image(NamedTuple):
    """A reference such as ``registry:5000/vllm/vllm-openai:v0.20.0@sha256:...``; parts that are missing are empty."""

    repository: str
    tag: str
    digest: str


def image_of(reference: str) -> Image:
    """Split a reference; a colon before the last slash is that of a registry's port."""
    name, _, digest = reference.partition("@")
    folder, slash, last = name.rpartition("/")
    last, _, tag = last.partition(":")
    return Image(folder + slash + last, tag, digest)
