"""The model architectures that each release of an engine can run.

The columns of ``architectures.yaml``, beside the engine's other tables:

    releases: the releases that were read, oldest first.
    others: hardware in tags whose images run other architectures too, such as those of ONNX files.
    architectures: by the name that a model's ``config.json`` states. ``from``: the first of these releases that
      registers it, if that is not the oldest one. ``until``: the first that no longer does. ``never``: none does.
      ``fallback``: the first whose image has it in the Transformers library, with whose code the engine runs models
      that it does not register.
"""

import functools
import json
import re
from typing import Any, NamedTuple

from ..contract.tables import parse_table
from .command_line import CommandLine
from .registry import Engine
from .settings import Setting
from .versions import Version, VersionSpan, without_trailing_zeros

_TABLE = "architectures.yaml"
_CHOOSING = (Setting.MODEL_CONFIG, Setting.OWN_CODE, "--config-format", "--model-impl", "--impl")
"""Settings that choose another architecture, or other code, than the model's configuration states."""
_ENDINGS = (
    "ForCausalLM", "ForConditionalGeneration", "ChatModel", "LMHeadModel", "ForTextEncoding", "EmbeddingModel",
    "ForSequenceClassification", "ForTokenClassification", "ForAudioClassification", "ForImageClassification",
    "ForVideoClassification", "ClassificationModel", "ForRewardModeling", "RewardModel", "Model",
)  # fmt: skip
"""Endings of architectures that vLLM converts into one another, in the order in which it tries them
(``_SUFFIX_TO_DEFAULTS`` of vllm/config/model.py at 0.20.0)."""


class ArchitectureSupport(NamedTuple):
    """The releases of an engine that can run an architecture.

    Attributes:
        span: Releases that register it.
        fallback: First release that may run it with the code of the Transformers library; None if none does.
        releases: All releases that were read, oldest first.
    """

    span: VersionSpan
    fallback: Version | None
    releases: tuple[Version, ...]

    def lacks(self, version: Version | None) -> bool:
        """Return whether a version certainly cannot run it; None is the newest version."""
        if not version or version > self.releases[-1]:
            return False
        if self.fallback is not None and version >= self.fallback:
            return False
        return not self.span.includes(version)

    @property
    def first(self) -> Version | None:
        """The first release that can run it, preferably without a fallback; None for those from the beginning on."""
        return self.fallback if self.span.never else self.span.since

    @property
    def last(self) -> Version | None:
        """The last release that registers it; None if the newest one does, or if none does."""
        until = self.span.until
        return max((release for release in self.releases if release < until), default=None) if until else None


def chooses_architecture(line: CommandLine) -> bool:
    """Return whether a server may run another architecture, or other code, than the model's configuration states."""
    return line.holds(*_CHOOSING)


def converts(engine: Engine, architecture: str, version: Version | None) -> bool:
    """Return whether a release may run an architecture by converting another one of the same model.

    Since 0.10.0, vLLM runs Qwen3ForSequenceClassification with the code of Qwen3ForCausalLM.
    """
    ending = next((each for each in _ENDINGS if architecture.endswith(each)), None)
    if ending is None:
        return False
    others = (support_of(engine, architecture.removesuffix(ending) + each) for each in _ENDINGS if each != ending)
    return any(support and not support.lacks(version) for support in others)


def runs_others(engine: Engine, tag: str) -> bool:
    """Return whether an image also runs architectures that the table does not list for its release."""
    row = re.search(r"^others: (.*)$", _text(engine), re.MULTILINE) if engine.hardware else None
    return row is not None and engine.edition(tag) in json.loads(row[1])


def support_of(engine: Engine, architecture: str) -> ArchitectureSupport | None:
    """Return what is known of an architecture in an engine; None if the engine's table does not list it."""
    text = _text(engine)
    # The rows are found in the text, because parsing all of them takes longer than validating a manifest.
    row = re.search(rf"^  {re.escape(architecture)}: (.*)$", text, re.MULTILINE)
    if row is None:
        return None
    columns: dict[str, Any] = parse_table(row[1])
    fallback = columns.get("fallback")
    return ArchitectureSupport(
        span=VersionSpan.from_row(columns),
        fallback=without_trailing_zeros(tuple(fallback)) if fallback else None,
        releases=_releases(engine),
    )


@functools.cache
def _text(engine: Engine) -> str:
    file = engine.folder.joinpath(_TABLE)
    return file.read_text(encoding="utf-8") if file.is_file() else ""


@functools.cache
def _releases(engine: Engine) -> tuple[Version, ...]:
    row = re.search(r"^releases: (.*)$", _text(engine), re.MULTILINE)
    assert row, engine.name  # noqa: S101  our own data, checked by a test
    return tuple(tuple(release) for release in json.loads(row[1]))
