"""Generated documents of the newest release, to the contract's and back, and over each step of the last ten releases.

Every document converts, every field that does not come back is in the list of losses, and comments are kept.
``INFERENCE_PLATFORM_MIGRATIONS`` sets the number of documents for each family.
"""

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, seed, settings

from components.families import FAMILIES
from components.families.family import Family
from tests.families.kthena.random import later
from tests.families.llmaz.generated import manifests
from tests.families.llmd.releases.test_migration import documents as variants
from tests.families.llmkube.api.test_releases import KINDS as LLMKUBE_KINDS
from tests.families.llmkube.test_migration import document as llmkube_document
from workbench.migration.conversion import convert

Object = dict[str, Any]
EXAMPLES = int(os.environ.get("INFERENCE_PLATFORM_MIGRATIONS", "4"))
KEPT = 0.995
"""The part of the comments that must be kept."""
BY_NAME = {family.name: family for family in FAMILIES}


def _drawn(strategy: Any, random: Random) -> Any:
    drawn: list[Any] = []

    @seed(random.randrange(2**32))
    @settings(max_examples=1, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(strategy)
    def draw(value: Any) -> None:
        drawn.append(value)

    draw()
    return drawn[-1]


def _kthena(release: str, random: Random) -> list[Object]:
    names = ("ModelBooster", "ModelServing", "AutoscalingPolicy", "ModelRoute", "ModelServer")
    return [later.document(random.choice(names), release, random)]


def _llmkube(release: str, random: Random) -> list[Object]:
    kinds = [name for name, kind in LLMKUBE_KINDS.items() if kind.at(release).exists]
    return [llmkube_document(random, random.choice(kinds), release)]


def _llmaz(release: str, random: Random) -> list[Object]:
    return list(_drawn(manifests(release), random))


def _llmd(release: str, random: Random) -> list[Object]:
    return [_drawn(variants(release), random)]


MADE: dict[str, Callable[[str, Random], list[Object]]] = {
    "kthena": _kthena,
    "llmkube": _llmkube,
    "llmaz": _llmaz,
    "llmd": _llmd,
}


def newest(family: Family) -> str:
    """Return the newest release that has the kinds of a family."""
    kinds = [member.kind for member in family.members]
    return next(name for name in reversed(family.releases.names) if any(kind.at(name).exists for kind in kinds))


@dataclass
class Tally:
    """What became of the documents."""

    documents: int = 0
    comments: int = 0
    kept: int = 0
    failed: list[str] = field(default_factory=list)
    unlisted: list[str] = field(default_factory=list)


def commented(documents: list[Object], random: Random) -> str:
    """Return documents with a comment above, or at the end of, about every third line."""
    texts = []
    for document in documents:
        lines = []
        for line in yaml.safe_dump(document, sort_keys=False, width=10**6).splitlines():
            plain = not line.rstrip().endswith(("|", "|-", ">", ">-", "|+")) and ":" in line
            place = random.choice(("above", "end", "", "", "", "")) if plain else ""
            indent = line[: len(line) - len(line.lstrip())]
            lines += [f"{indent}# remark {random.randrange(10**9)}"] if place == "above" and plain else []
            lines.append(f"{line}  # remark {random.randrange(10**9)}" if place == "end" else line)
        text = "\n".join(lines) + "\n"
        # A remark within a text of several lines would be a part of it.
        texts.append(text if yaml.safe_load(text) == document else yaml.safe_dump(document, sort_keys=False))
    return "---\n".join(texts)


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the values of a document with the names above each; positions in lists do not count.

    Empty maps and lists are left out.
    """
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, str(key)))
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner, path)
    else:
        yield path, value


def named(paths: list[str]) -> set[str]:
    """Return the names of the fields that are lost; empty for a whole object."""
    return {(re.findall(r"[^.\[\]{}]+", re.sub(r"\[\d+\]", "", path)) or [""])[-1] for path in paths}


def there_and_back(family: Family, origin: str, target: str, path: Path, random: Random, tally: Tally) -> None:
    original = MADE[family.name](origin, random)
    text = commented(original, random)
    path.write_text(text)
    tally.documents += len(original)
    listed: list[str] = []
    try:
        for first, second in ((origin, target), (target, origin)):
            before = path.read_text()
            done = convert([path], {family.name: second}, {family.name: first}, lossy=True)
            path.write_text(done.texts[path])
            listed += [note.path for note in (*done.losses, *done.notes)]
            found = re.findall(r"# remark \d+", before)
            # An object that is left out takes its comments with it.
            if "" in {loss.path for loss in done.losses}:
                return
            tally.comments += len(found)
            tally.kept += sum(comment in done.texts[path] for comment in found)
    except Exception as error:
        tally.failed.append(f"{family.name} {origin} {target}: {type(error).__name__}: {error}\n{text}")
        return
    back = [document for document in yaml.safe_load_all(path.read_text()) if document]
    lost = named(listed)
    kept = [leaf for document in back for leaf in leaves(document.get("spec", {}))]
    for document in original:
        for names, value in leaves(document.get("spec", {})):
            if (names, value) not in kept and not lost & {*names, str(value)}:
                where = ".".join(names)
                tally.unlisted.append(f"{family.name} {origin} {target}: {where}: {value!r}; listed: {sorted(lost)}")


def routes(family: Family) -> list[tuple[str, str]]:
    last = newest(family)
    names = family.releases.names[: family.releases.names.index(last) + 1]
    return [(last, family.releases.contract), *((new, old) for old, new in pairwise(names[-11:]))]


def tallied(name: str, examples: int, folder: Path) -> Tally:
    family, tally = BY_NAME[name], Tally()
    ways = routes(family)
    for number in range(examples):
        # Half of them go all the way, the others one step each.
        for origin, target in (ways[0], ways[1 + number % (len(ways) - 1)]):
            there_and_back(family, origin, target, folder / "model.yaml", Random(f"{name} {number}"), tally)
    return tally


@pytest.mark.parametrize("name", MADE)
def test_documents_go_back_and_forth(name: str, tmp_path: Path) -> None:
    tally = tallied(name, EXAMPLES, tmp_path)
    assert tally.failed == []
    assert tally.unlisted == []
    assert tally.kept >= KEPT * tally.comments
    assert tally.comments > 0
