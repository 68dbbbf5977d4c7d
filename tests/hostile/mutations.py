# ruff: noqa: E501 - tables of values
"""Samples and settings with something changed: values, fields, and the text itself."""

import copy
import functools
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import yaml

from components.families import kinds
from tests.contract.breaking import ODD_VALUES, broken
from tests.contract.documents import DOCUMENTS
from tests.families.kthena.serving.support import model_serving, role
from tests.families.leaderworkerset.sets import group
from tests.fleets import runner

ROOT = Path(__file__).parents[2]
STACKS = ("local", "dev", "staging", "prod")
HOSTILE = (
    *("a\nb", "\x1b[31mred", "\x00", "\x7f", "\x85", "\u2028", "\u202eabc", "\u200b", "\ufeff", "\t", "\r\n", "\udcff"),
    *("hf_" + "aB3" * 11, "-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----", "$(HF_TOKEN)", "`id`", "${x}"),
    *("--api-key", "--", "-", "=", "--x=y=z", "'", '"', "\\", "%s", "{0}", "[a]", "a.b[0]", "*", "&a", "!!x", "{{x}}"),
    *("9" * 400, "x" * 5000, "1" + "0" * 30 + "Gi", "0x10", "1_000", "1e999", "-0", "Infinity", "NaN", "é" * 70),
    *("http://[", "https://u:p@h/x", "s3://", "pvc://", "hf://", "file://", "../../x", "/", "//", ":", "a:b:c", "@", "#"),
)  # fmt: skip
ODD: tuple[Any, ...] = (
    *ODD_VALUES,
    *HOSTILE,
    [[]],
    [{}],
    [1, "a"],
    {"": ""},
    {"secure": "v1:x:y"},
    {"a": {"b": [None]}},
    [[1]],
    -1.5,
    10**30,
)
SIGNS = (
    *("\n", "---\n", "...\n", ": ", "- ", "{", "}", "[", "]", '"', "'", "|\n", ">\n", "&a ", "*a", "!!str ", "!x ", "? "),
    *("<<: ", "# ", "%YAML 1.2\n", ".nan", ".inf", "null", "~", "\t", "\x00", "\x1b", "\u2028", "\u202e", "\ufeff", "  "),
    *("\r", "@", "`", ",", "0", "9" * 5000, "y", "2001-01-01", "1:2", "0o7", "\udcff", "é", "🙂"),
)  # fmt: skip


_SCRIPT = runner(
    image="vllm/vllm-openai:v0.11.0", command=["sh", "-c"], args=["exec vllm serve m --port 8000 && echo $HF_TOKEN"]
)
_SCRIPTED = (
    group("scripted", workerTemplate={"spec": {"containers": [_SCRIPT]}}),
    model_serving("scripted", role("server", entryTemplate={"spec": {"containers": [_SCRIPT]}})),
)
"""Engines that a shell starts, as most pods written by hand do."""


_LLMKUBE = "inference.llmkube.dev/v1alpha1"
_REFERENCE = {"inferenceServiceRef": {"name": "chat"}}
_OPERATED: tuple[dict[str, Any], ...] = tuple(
    {"apiVersion": api_version, "kind": kind, "metadata": {"name": "other"}, "spec": spec}
    for api_version, kind, spec in (
        (_LLMKUBE, "ModelRouter", {"backends": [{"name": "a", **_REFERENCE}], "defaultRoute": "a"}),
        (_LLMKUBE, "ModelPool", {"members": [_REFERENCE], "swapBudget": "300s"}),
        (_LLMKUBE, "LoRAAdapter", {**_REFERENCE, "name": "sql", "path": "/adapters/sql"}),
        (_LLMKUBE, "GPUQuota", {"gpuCount": 4, "namespaceRef": "models"}),
        ("federation.llmkube.dev/v1alpha1", "FederatedCluster", {"displayName": "a"}),
    )
)
"""Kinds that need LLMKube's operator."""


@functools.cache
def samples() -> tuple[tuple[dict[str, Any], ...], ...]:
    """Return files of documents that are valid and refer to each other."""
    folders = (ROOT / "stacks/models", ROOT / "stacks/variants", ROOT / "tests/families/llmaz/data/samples")
    files = [file for folder in folders for file in sorted(folder.glob("*.yaml"))]
    read = [tuple(d for d in yaml.safe_load_all(f.read_text()) if _is_known(d)) for f in files]
    single = tuple((copy.deepcopy(document),) for document in (*DOCUMENTS, *_SCRIPTED, *_OPERATED))
    return tuple(documents for documents in read if documents) + single


def _is_known(document: Any) -> bool:
    return isinstance(document, dict) and kinds().find(document.get("apiVersion"), document.get("kind")) is not None


def one_change(random: Random, kind: str) -> list[dict[str, Any]]:
    """Return documents with a resource of a kind, of which one value may be changed, and no name or kind."""
    fitting = [each for each in samples() if any(document["kind"] == kind for document in each)]
    documents = [copy.deepcopy(document) for document in random.choice(fitting)]
    places = [place for document in documents for place in _places(document.get("spec"))]
    if places and random.random() < 0.8:
        owner, key = random.choice(places)
        if random.random() < 0.5:
            del owner[key]
        else:
            owner[key] = copy.deepcopy(random.choice(ODD))
    return documents


def manifests(random: Random) -> str:
    """Return the text of a file of manifests that is mostly nearly right."""
    documents = [copy.deepcopy(document) for document in random.choice(samples())]
    if random.random() < 0.3:
        documents += [copy.deepcopy(document) for document in random.choice(samples())]
    for _ in range(random.choice((0, 1, 1, 2, 3))):
        at = random.randrange(len(documents))
        documents[at] = _changed(documents[at], random)
    text = yaml.safe_dump_all(documents, sort_keys=False, allow_unicode=random.random() < 0.5)
    return text if random.random() < 0.6 else text_with_changes(text, random)


def _changed(document: dict[str, Any], random: Random) -> dict[str, Any]:
    if random.random() < 0.5 and _is_known(document):
        return broken(document, random, random.choice((1, 1, 2, 5)))
    other: dict[str, Any] = changed(document, random)
    return other


def changed(value: Any, random: Random) -> Any:
    """Return a value with one thing in it replaced, removed, renamed or doubled, whatever it is."""
    value = copy.deepcopy(value)
    places = _places(value)
    if not places:
        return random.choice(ODD)
    owner, key = random.choice(places)
    action: Callable[[], None] = random.choice(
        (
            lambda: owner.__setitem__(key, copy.deepcopy(random.choice(ODD))),
            lambda: owner.__setitem__(key, copy.deepcopy(random.choice(HOSTILE))),
            lambda: owner.__delitem__(key),
            lambda: owner.__setitem__(key, [owner[key]]),
            lambda: owner.__setitem__(key, {"a": owner[key]}),
            lambda: _grow(owner, key, random),
            lambda: _grow(owner, key, random),
        )
    )
    action()
    return value


def _grow(owner: Any, key: Any, random: Random) -> None:
    if isinstance(owner, list):
        owner.append(copy.deepcopy(owner[key]))
    else:
        name = random.choice(HOSTILE) if random.random() < 0.5 else f"{key}{random.choice('xs1')}"
        owner[name] = copy.deepcopy(random.choice((owner[key], random.choice(ODD))))


def _places(value: Any) -> list[tuple[Any, Any]]:
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [(value, key) for key in keys] + [place for key in keys for place in _places(value[key])]


def text_with_changes(text: str, random: Random) -> str:
    """Return a text with signs put in, taken out, doubled and moved."""
    for _ in range(random.choice((1, 1, 2, 4))):
        at = random.randrange(len(text) + 1)
        end = min(len(text), at + random.choice((1, 3, 20, 200)))
        match random.randrange(5):
            case 0 | 1:
                text = text[:at] + random.choice(SIGNS) + text[at:]
            case 2:
                text = text[:at] + text[end:]
            case 3:
                text = text[:end] + text[at:end] + text[end:]
            case _:
                to = random.randrange(len(text) + 1)
                text = text[:to] + text[at:end] + text[to:]
    return text


@functools.cache
def _stack_file(stack: str) -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((ROOT / f"Pulumi.{stack}.yaml").read_text())
    return read


@functools.cache
def _declared() -> tuple[tuple[str, Any], ...]:
    described = yaml.safe_load((ROOT / "Pulumi.yaml").read_text())["config"]
    return tuple((key, facts.get("default")) for key, facts in described.items() if isinstance(facts, dict))


def settings(random: Random) -> str:
    """Return the text of a stack file that is mostly nearly right."""
    content = copy.deepcopy(_stack_file(random.choice(STACKS)))
    for _ in range(random.choice((1, 1, 2, 3))):
        key, default = random.choice(_declared())
        match random.randrange(5):
            case 0 | 1:
                content["config"] = changed(content.get("config") or {}, random)
            case 2:
                content["config"] = {**_map(content.get("config")), key: copy.deepcopy(random.choice(ODD))}
            case 3:
                content["config"] = {**_map(content.get("config")), key: changed(default, random)}
            case _:
                content = changed(content, random) if random.random() < 0.2 else content
                content = _map(content)
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=random.random() < 0.5)
    return text if random.random() < 0.8 else text_with_changes(text, random)


def _map(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, dict) else {}
