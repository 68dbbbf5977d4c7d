"""The page about LLMKube: its table of releases is the one that the data give, and it names every kind."""

from components.families.llmkube.family import FAMILY
from tests.families.llmkube.page import PAGE, page


def test_the_table_of_releases_is_written_from_the_data() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()


def test_every_kind_is_named() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [member.kind.kind for member in FAMILY.members if member.kind.kind not in text] == []
