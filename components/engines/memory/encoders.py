"""The memory of encoders of images and videos, which an engine runs at its start with the largest inputs.

The columns of ``encoders.yaml`` in an engine's folder, by architecture:

    width, inner: width of the encoder between layers and within its feed-forward networks.
    above, large: billions of parameters from which models have a larger encoder, and its two widths.
    inputs: numbers of a patch. patches: patches of a token.
    image: tokens of the largest image. pixels: pixels of a token, if the number of pixels can be limited.
    video: tokens of the smallest part of a video, if the model reads videos. parts: of the longest video; without a
      number, as many as the context holds.
    per_request: whether an image of each concurrent request is encoded at the same time.

The engine encodes as many tokens at a time as it computes, and at least one item (vLLM,
``compute_mm_encoder_budget``).
"""

import functools
import re
from dataclasses import dataclass
from typing import Any

from ...contract.tables import parse_table
from ..registry import Engine

_BYTES = 2
"""Bytes of a number in 16 bits."""
_ATTENTION = 13
"""Copies of a patch in attention: its input and residual, queries, keys and values twice, and two of them rotated in
32 bits with their results (vLLM, ``Qwen2_5_VisionAttention.forward``)."""
_NETWORK = (3, 3)
"""Copies of a patch outside and inside of a feed-forward network (vLLM, ``Qwen2_5_VisionMLP.forward``)."""
_INPUT_BYTES = 6
"""Bytes of each number of a patch: in 32 and in 16 bits."""
_OUTPUTS = 2
"""Copies of each encoded token, of which one is kept."""


@dataclass(frozen=True, kw_only=True)
class Encoder:
    """An encoder of images and videos; the attributes are the columns."""

    width: int
    inner: int
    inputs: int
    patches: int
    image: int
    pixels: int = 0
    video: int = 0
    parts: int | None = None
    above: int | None = None
    large: tuple[int, int] | None = None
    per_request: bool = False


@dataclass(frozen=True, kw_only=True)
class MediaLimits:
    """What requests may contain beside text.

    Attributes:
        images: Images of a request; None if not set.
        videos: Videos of a request; None if not set.
        pixels: Pixels of an image; None if not set.
        is_text: Whether requests consist of text only.
    """

    images: int | None = None
    videos: int | None = None
    pixels: int | None = None
    is_text: bool = False

    @property
    def has_images(self) -> bool:
        return not self.is_text and self.images != 0

    @property
    def has_videos(self) -> bool:
        return not self.is_text and self.videos != 0


NO_LIMITS = MediaLimits()


@dataclass(frozen=True, kw_only=True)
class EncoderUse:
    """How a server uses an encoder.

    Attributes:
        context: Tokens of a request.
        tokens: Tokens that are computed at a time.
        requests: Concurrent requests.
        whole_requests: Whether all images and videos of a request are encoded at a time, as before the engine V1.
        ranks: Accelerators that divide the encoder.
        hidden: Width of the language model.
        parameters: Parameters of the model; None if unknown.
    """

    limits: MediaLimits
    context: int
    tokens: int
    requests: int = 1
    whole_requests: bool = False
    ranks: int = 1
    hidden: int = 0
    parameters: int | None = None


def encoder_of(engine: Engine, architecture: str) -> Encoder | None:
    """Return the encoder of an architecture; None if the engine's table does not list it."""
    # The row is found in the text, because parsing all of them takes longer than using one.
    found = (
        re.search(rf"^  {re.escape(architecture)}:\s+(.*)$", _text(engine), re.MULTILINE) if architecture else None
    )
    if found is None:
        return None
    row: dict[str, Any] = parse_table(found[1])
    return Encoder(**{**row, "large": tuple(row["large"]) if "large" in row else None})


def encoder_bytes(encoder: Encoder, use: EncoderUse) -> int:
    """Return the most memory per accelerator that encoding takes."""
    tokens = encoded_tokens(encoder, use)
    width, inner = encoder.width, encoder.inner
    billions = encoder.above
    if encoder.large and billions and use.parameters and use.parameters >= billions * 10**9:
        width, inner = encoder.large
    outside, inside = _NETWORK
    network = outside * width + inside * -(-inner // use.ranks)
    patch = _BYTES * max(_ATTENTION * width, network) + _INPUT_BYTES * encoder.inputs
    return tokens * (encoder.patches * patch + _OUTPUTS * _BYTES * use.hidden)


def encoded_tokens(encoder: Encoder, use: EncoderUse) -> int:
    """Return how many tokens of images or videos are encoded at a time, at most."""
    limits = use.limits
    image, part = encoder.image, encoder.video
    if limits.pixels is not None and encoder.pixels:
        image = min(image, -(-limits.pixels // encoder.pixels))
        part = min(part, image)
    parts = max(1, use.context // part) if part else 0
    if encoder.parts is not None:
        parts = min(parts, encoder.parts)
    images = image if limits.has_images else 0
    videos = part * parts if limits.has_videos else 0
    if not images and not videos:
        return 0
    if encoder.per_request:
        return images * use.requests
    if use.whole_requests:
        return max(use.tokens, images * max(1, limits.images or 1) + videos * max(1, limits.videos or 1))
    item = max(images, videos)
    # Releases up to 0.8 round the number of items up.
    return item if item >= use.tokens else use.tokens + item


@functools.cache
def _text(engine: Engine) -> str:
    file = engine.folder.joinpath("encoders.yaml")
    return file.read_text(encoding="utf-8") if file.is_file() else ""
