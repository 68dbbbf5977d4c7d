"""Finds names of models that are misspelled names of the catalog.

A name that no catalog has is usually another model: a newer one, a derived one, or a private one. So only what looks
like a slip of the keyboard counts: all words are those of a known model except for one with a letter too many, too
few or wrong, which is no word of any known model. Numbers are never compared loosely: they tell models apart.
"""

import functools
import re
from collections.abc import Mapping, Sequence

from .catalog import names

_PAGE = re.compile(
    r"(?:https?://)?(?:www\.)?(?:huggingface\.co|hf\.co|modelscope\.cn/models)/([\w.-]{1,80}/[\w.-]{1,80})(?:/tree/[^/]+)?/?"
)
"""The address of a model's page; longer addresses are those of files."""
_NAME = re.compile(r"[\w.-]{1,80}(/[\w.-]{1,80})?")
_BREAKS = re.compile(r"[-_./\s]+")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_OTHER_WORDS = frozenset(
    {
        "base", "chat", "code", "hf", "gguf", "awq", "gptq", "bnb", "int", "fp", "bf", "quant", "quantized",
        "instruct", "instruction", "it", "pt", "vision", "audio", "math", "omni", "embedding", "reranker",
        "reasoning", "thinking", "preview", "guard", "mini", "small", "medium", "large", "tiny", "nano", "micro",
        "pro", "plus", "max", "lite", "turbo", "flash", "next", "beta", "alpha", "dense", "moe", "lora", "adapter",
        "merged", "uncensored", "distill", "distilled", "draft", "eagle", "speculator", "spec", "sft", "dpo",
        "rlhf", "long", "context", "exp", "experimental", "terminus", "community"
    }
)  # fmt: skip
"""Words in names of models that the catalog may lack."""
_LEAST_SWAPPED, _LEAST_WORD, _LONG_WORD = 3, 4, 8
"""Letters of a word in which two swapped letters, one wrong letter, or two are a slip: shorter words differ more."""


@functools.lru_cache(maxsize=4096)
def misspelled(name: str) -> str:
    """Return the known model whose name a name misspells; empty if it is a known one or that of another model.

    Hubs know models by owner and name only: for the address of a page, and for a name without its owner, the model of
    that name is returned.
    """
    page = _PAGE.fullmatch(name)
    if page:
        return page[1]
    if name in names() or not _NAME.fullmatch(name):
        return ""
    words = _words(name)
    if tuple(words) in _by_words():
        # The same in another case is the same model: Hugging Face does not distinguish them.
        near = _by_words()[tuple(words)]
        return near if near.lower() != name.lower() else ""
    near = _by_letters().get("".join(words), "")
    if near:
        return near
    if "/" not in name:
        owned = _by_last_part().get(name.lower(), [])
        return owned[0] if len(owned) == 1 else ""
    for known, model in _by_words().items():
        if len(known) != len(words):
            continue
        wrong = [pair for pair in zip(words, known, strict=True) if pair[0] != pair[1]]
        if len(wrong) == 1 and _is_slip(*wrong[0]):
            return model
    return ""


def _is_slip(word: str, known: str) -> bool:
    """Whether a word is a slip for a known one."""
    if word in _vocabulary() or _NUMBER.findall(word) != _NUMBER.findall(known):
        return False
    if _NUMBER.search(known):
        # v3 and r3 are two models, but nothing is called 8bb.
        letters, right = _NUMBER.sub("", word), _NUMBER.sub("", known)
        return len(letters) == len(right) + 1 and set(letters) == set(right)
    if len(known) >= _LEAST_SWAPPED and sorted(word) == sorted(known):
        return _distance(word, known) == 1
    if len(known) < _LEAST_WORD:
        return False
    return _distance(word, known) <= (2 if len(known) >= _LONG_WORD else 1)


def _distance(word: str, other: str) -> int:
    """Return the letters to insert, remove, replace, or swap with the next one, to turn a word into another."""
    before, last = list[int](), list(range(len(other) + 1))
    for row, letter in enumerate(word, start=1):
        current = [row]
        for column, expected in enumerate(other, start=1):
            cost = min(last[column] + 1, current[-1] + 1, last[column - 1] + (letter != expected))
            swapped = row > 1 and column > 1 and letter == other[column - 2] and word[row - 2] == expected
            current.append(min(cost, before[column - 2] + 1) if swapped else cost)
        before, last = last, current
    return last[-1]


def _words(name: str) -> list[str]:
    return [word for word in _BREAKS.split(name.lower()) if word]


@functools.cache
def _by_words() -> Mapping[tuple[str, ...], str]:
    return {tuple(_words(name)): name for name in names()}


@functools.cache
def _by_letters() -> Mapping[str, str]:
    return {"".join(words): name for words, name in _by_words().items()}


@functools.cache
def _by_last_part() -> Mapping[str, Sequence[str]]:
    """Return the known models by their names without the owner."""
    models: dict[str, list[str]] = {}
    for name in names():
        owner, _, last = name.lower().rpartition("/")
        if owner:
            models.setdefault(last, []).append(name)
    return models


@functools.cache
def _vocabulary() -> frozenset[str]:
    """Return the words of all known models: one that another model has is no slip."""
    return frozenset(word for words in _by_words() for word in words) | _OTHER_WORDS
