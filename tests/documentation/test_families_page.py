"""The page about API families lists each family once, with its kinds, and each protocol."""

import re

from components.families import FAMILIES
from components.families import family as protocols
from tests.documentation.blocks import ROOT

PAGE = (ROOT / "docs/families.md").read_text(encoding="utf-8")


def test_each_family_has_one_row_with_all_its_kinds() -> None:
    rows = re.findall(r"^\| `([a-z]+)` \| ([^|]+) \|", PAGE, re.MULTILINE)
    assert sorted((name, sorted(kinds.strip().split(", "))) for name, kinds in rows) == sorted(
        (family.name, sorted(member.kind.kind for member in family.members)) for family in FAMILIES
    )


def test_each_protocol_is_explained() -> None:
    names = [
        name for name, each in vars(protocols).items() if getattr(each, "_is_protocol", False) and name != "Protocol"
    ]
    assert len(names) == 11
    assert [name for name in names if f"`{name}`" not in PAGE] == []
