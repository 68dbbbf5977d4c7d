"""Comments on any line of manifests are kept by conversions, and change nothing about what is converted."""

import copy
import re
from random import Random
from typing import Any

import pytest
import yaml

from components.contract.documents.reader import read_documents
from components.contract.kinds import Kinds
from components.families import FAMILIES
from components.families.family import Migrating
from components.families.migration import Batch, drop_losses, migrate
from tests.families.migrated_texts import migrated_text
from tests.hostile.mutations import ROOT, samples
from tests.tries import tries

RELEASED = [family for family in FAMILIES if isinstance(family, Migrating)]
LATER = ROOT / "components/families/kthena/samples/later_fields.yaml"
KEPT = 0.995


def documents(random: Random, kinds: Kinds) -> list[dict[str, Any]]:
    """Return a file of documents of a family."""
    later = tuple(yaml.safe_load_all(LATER.read_text(encoding="utf-8")))
    files = [
        [document for document in file if kinds.find(document["apiVersion"], document["kind"])]
        for file in (*samples(), later)
    ]
    return copy.deepcopy(random.choice([file for file in files if file]))


def commented(random: Random, text: str) -> str:
    """Return a text with comments above and beside many of its lines."""
    lines: list[str] = []
    number = 0
    within: int | None = None
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip(" "))
        if within is not None and (not line.strip() or indent > within):
            lines.append(line)
            continue
        within = None
        if random.random() < 0.3 and line != "---":
            lines.append(f"{' ' * indent}# c{number}.")
            number += 1
        is_whole = re.match(r"[- ]*[\w./-]+:( [^|>\"'&*].*)?$", line)
        if is_whole and random.random() < 0.3 and line != "---":
            line = f"{line}{' ' * random.randint(1, 3)}# c{number}."
            number += 1
        if re.search(r"[|>][-+0-9]*$", line):
            within = indent
        lines.append(line)
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("family", RELEASED, ids=lambda family: family.name)
def test_comments_are_kept(family: Any) -> None:
    kinds = Kinds([member.kind for member in family.members])
    random = Random(7)
    written = kept = 0
    for _ in range(tries(200)):
        origin, target = (random.choice(family.releases.names) for _ in range(2))

        def convert(batch: Batch, origin: str = origin, target: str = target) -> None:
            migrate(batch, kinds, family.releases, family.steps(), origin, target)
            for document in batch.documents:
                drop_losses(document, kinds, target)

        flow = random.choice((False, None))
        plain = yaml.safe_dump_all(
            documents(random, kinds),
            sort_keys=False,
            default_flow_style=flow,
            width=10_000,
            indent=random.choice((2, 4)),
        )
        text = commented(random, plain)
        if [*yaml.safe_load_all(text)] != [*yaml.safe_load_all(plain)]:
            continue  # a comment came into a text of several lines
        converted = migrated_text(text, convert)
        expected = [each.value for each in read_documents(migrated_text(plain, convert))]
        assert [each.value for each in read_documents(converted)] == expected
        comments = set(re.findall(r"# c[0-9]+\.", text))
        written += len(comments)
        kept += len(comments & set(re.findall(r"# c[0-9]+\.", converted)))
    assert written > 100
    assert kept >= KEPT * written, f"{kept} of {written}"
