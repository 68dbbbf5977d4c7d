"""The model architectures that a release registers, and the table of them by release.

An engine may run a model whose architecture it does not register with the code of the Transformers library
(``resolve_model_cls`` of vLLM and ``_normalize_archs`` of SGLang, in the ``registry.py`` of their models). Which ones
depends on the release of Transformers that the engine's image contains.
"""

import ast
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from .sources import PackageSources, UnreadableError

Version = tuple[int, ...]
_FALLBACK = re.compile(r"Transformers\w*")
"""Architectures that stand for the code of the Transformers library."""
_COLUMNS = ("from", "until", "never", "fallback")
_SERVED = re.compile(r"\w+For(CausalLM|ConditionalGeneration)")
"""Architectures of models that generate text."""


def vllm_architectures(sources: PackageSources) -> set[str]:
    """Return the keys of ``_VLLM_MODELS``, which merges dictionaries of models."""
    module = sources.module("vllm.model_executor.models.registry")
    if module is None:
        raise UnreadableError("vllm/model_executor/models/registry.py")

    def classes(node: ast.AST) -> dict[str, str]:
        """Return the class that implements each architecture of a dictionary."""
        match node:
            case ast.Name(id=name):
                merged = (classes(definition) for _, definition in sources.definitions(module, name))
                return {key: cls for part in merged for key, cls in part.items()}
            case ast.Dict(keys=names, values=values):
                entries: dict[str, str] = {}
                for key, value in zip(names, values, strict=True):
                    if key is None:
                        entries |= classes(value)
                    else:
                        entries[str(sources.constant(module, key))] = str(sources.constant(module, value)[1])
                return entries
            # {k: (mod, arch) for k, (mod, arch) in MODELS.items() if arch == "LlamaForCausalLM"}
            case ast.DictComp(
                generators=[
                    ast.comprehension(
                        iter=ast.Call(func=ast.Attribute(value=models, attr="items")),
                        ifs=[ast.Compare(ops=[ast.Eq()], comparators=[ast.Constant(value=wanted)])],
                    )
                ]
            ):
                return {key: cls for key, cls in classes(models).items() if cls == wanted}
        raise UnreadableError(ast.unparse(node))

    return set(classes(ast.Name(id="_VLLM_MODELS")))


def sglang_architectures(sources: PackageSources) -> set[str]:
    """Return the names of the classes that the modules of ``sglang.srt.models`` state as ``EntryClass``."""
    found: set[str] = set()
    # Packages below are skipped, as by `pkgutil.iter_modules` in the registry.
    for path in sorted(sources.folder.joinpath("sglang", "srt", "models").glob("*.py")):
        module = sources.module(f"sglang.srt.models.{path.stem}")
        for entry in module.definitions.get("EntryClass", ()) if module else ():
            found |= {node.id for node in ast.walk(entry) if isinstance(node, ast.Name)}
    return found


def transformers_architectures(file: Path) -> set[str]:
    """Return the architectures that a release of Transformers has, from its ``models/auto/modeling_auto.py``."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return {text for text in texts if isinstance(text, str) and _SERVED.fullmatch(text)}


ARCHITECTURES = {"vllm": vllm_architectures, "sglang": sglang_architectures}


def is_newest(table: Path, version: str) -> bool:
    """Return whether no release in a table is later than one, which :func:`add_release` requires."""
    releases = yaml.safe_load(table.read_text(encoding="utf-8"))["releases"]
    return numbers_of(version) >= max((tuple(release) for release in releases), default=())


def numbers_of(version: str) -> Version:
    """Return a release as the table lists it, without trailing zeros and without the number of a post-release."""
    numbers = [int(part) for part in version.partition(".post")[0].split(".")]
    while numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def add_release(table: Path, engine: str, version: str, sources: PackageSources, library: Path | None) -> list[str]:
    """Add a release to the table of an engine and return what is new and gone.

    Args:
        table: The table.
        engine: The engine.
        version: The release, such as ``0.34.0``.
        sources: Its package.
        library: ``models/auto/modeling_auto.py`` of the release of Transformers in its image; None if unknown.
    """
    before = table.read_text(encoding="utf-8")
    names = transformers_architectures(library) if library else ()
    post = int(version.partition(".post")[2] or 0)
    after = with_release(before, numbers_of(version), ARCHITECTURES[engine](sources), names, post=post)
    table.write_text(after, encoding="utf-8")
    old, new = (yaml.safe_load(text)["architectures"] for text in (before, after))
    return [f"{name}: {new[name]}" for name in new if new[name] != old.get(name)]


def with_release(
    text: str,
    version: Version,
    registered: set[str],
    library: Iterable[str] = (),
    *,
    post: int = 0,
    others: Iterable[str] = (),
) -> str:
    """Return the text of a table with one more release, which must not be older than those that it lists.

    A post-release, such as 0.5.3.post1, adds to the release of its number, which does not have what is new in it.

    Args:
        text: The table; its first lines are comments.
        version: The release.
        registered: Architectures that it registers.
        library: Architectures of the Transformers library in its image.
        post: Number of the post-release; 0 for the release itself.
        others: Architectures of other engines, which no release has that the table does not list otherwise.

    Raises:
        ValueError: The table lists a newer release.
    """
    table = yaml.safe_load(text) or {"releases": [], "architectures": {}}
    releases = [tuple(release) for release in table["releases"]]
    first: list[int] | str = f"{'.'.join(map(str, version))}.post{post}" if post else list(version)
    rows: dict[str, dict[str, object]] = table["architectures"]
    if releases and version < releases[-1]:
        raise ValueError(f"the table lists releases up to {'.'.join(map(str, releases[-1]))}; add older ones first")
    is_first = not releases or (releases == [version] and not post)
    is_same = bool(releases) and releases[-1] == version
    for name in sorted(registered):
        row = rows.setdefault(name, {} if is_first else {"from": first})
        if row.pop("never", None):
            row["from"] = first
        row.pop("until", None)
    for name in set(rows) - registered:
        if "until" not in rows[name] and "never" not in rows[name] and not is_same:
            rows[name]["until"] = list(version)
    for name in others:
        rows.setdefault(name, {"never": True})
    if others or any(map(_FALLBACK.fullmatch, registered)):
        for name in sorted(set(library) - registered):
            row = rows.setdefault(name, {"never": True})
            row.setdefault("fallback", list(version))
    if not is_same:
        table["releases"].append(list(version))
    return _written(text, table)


def served_architectures(models: Path) -> list[str]:
    """Return the architectures of known models that generate text, from the table of models."""
    rows = (row.split(",") for row in models.read_text(encoding="utf-8").splitlines()[1:])
    return sorted({architecture for _, architecture, _ in rows if _SERVED.fullmatch(architecture)})


def with_first_builds(text: str, oldest: int, last: int, builds: Mapping[str, int]) -> str:
    """Return the text of a table of builds; 0 stands for a build before the oldest one."""
    rows = {name: {"from": [build]} if build else {} for name, build in builds.items()}
    return _written(text, {"releases": [[oldest], [last]], "architectures": rows})


def _written(text: str, table: Mapping[str, Any]) -> str:
    """Write a table below the comments that it starts with, one line per architecture."""
    comments = [line for line in text.splitlines() if line.startswith("#")]
    releases = ", ".join(map(str, table["releases"]))
    others = [line for line in text.splitlines() if line.startswith("others: ")]
    lines = [*comments, f"releases: [{releases}]", *others, "architectures:"]
    for name, row in sorted(table["architectures"].items()):
        columns = ", ".join(f"{key}: {str(row[key]).lower()}" for key in _COLUMNS if key in row)
        lines.append(f"  {name}: {{{columns}}}")
    return "\n".join(lines) + "\n"
