"""The page about llm-d has the table of releases as it is generated."""

from tests.families.llmd.releases.page import HEAD, PAGE, table


def test_the_table_is_generated_from_the_data() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = lines.index(HEAD)
    assert lines[start : start + len(table())] == table(), "run python -m tests.families.llmd.releases.page"
    assert not lines[start + len(table())].startswith("|")
