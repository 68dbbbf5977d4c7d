"""The comment under a pull request."""

from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from ci.markdown import cleaned
from tests.plan.review.formats.samples import ALONE, NOTHING, WHOLE
from workbench.planning.formats.links import Links
from workbench.planning.formats.markdown import markdown, marker

SECTIONS = (
    "### Models",
    "### New errors (1)",
    "### Fixed (1)",
    "<summary>Existing warnings (1)</summary>",
    "### Resource changes",
    "### Running replicas",
    "### Endpoint changes",
    "<summary>Changes by resource (4 resources, 3 fields)</summary>",
    "<summary>Memory of each GPU (estimated)</summary>",
    "<summary>Models, workloads and nodes</summary>",
    "<summary>Ignored findings (1)</summary>",
)


def test_sections_are_in_the_order_of_what_matters() -> None:
    text = markdown(WHOLE)
    places = [text.index(section) for section in SECTIONS]
    assert places == sorted(places)
    assert text.startswith("**Plan of dev:** ")


@pytest.mark.parametrize(
    "line",
    [
        "> - 1 error is new",
        r"| `Playground/chat`<br>example/chat | \$730.00 → \$1,460.00 (+\$730.00)<br>at least \$730.00"
        r"<br>at most \$730.00 → \$2,920.00 (+\$2,190.00) | does not fit: exceeds 40.0 GiB by 6.0 GiB; "
        r"before: fits, 20.0 GiB of 40.0 GiB left (50%) | 1 → 2 (1 to 4)<br>g6e.2xlarge |",
        r"| `Playground/old`<br>example/old<br>**removed** | \$365.00 → \$0.00 (-\$365.00) |  | 1<br>g6e.2xlarge |",
        "- **error** `models/chat.yaml:9` `Playground/chat spec.replicas`: 46 GiB are needed of 40 "
        "([`memory-exceeded`](docs/findings.md#memory-exceeded))",
        "| `Deployment` | 1 | 1 |  |  |",
        "| `Deployment models/chat` | 2 replicas restart: old ones stop first | 1 replica | about 7 min | 4 "
        "| `containers[0].image` |",
        "| `chat` | `http://chat.models:8080` | - |",
        "### Upgrade of the operator: Example v1 → v2",
        r"2. controllers: \~ Release fleet-example 0.1 → 0.2",
        "3. custom resources: converted by hand",
        "- created `Deployment models/embed`",
        "- updated `Deployment models/chat`",
        "  - 1",
        "  + 2",
        '  a0["Playground/chat<br/>example/chat<br/>does not fit"]',
        "  b0 --> c0",
        "- **warning** `models/chat.yaml:11` `Playground/chat spec.replicas`: 2 GiB are left "
        "([`memory-tight`](docs/findings.md#memory-tight)) Ignored: measured on the real device",
    ],
)
def test_a_comment_has_the_line(line: str) -> None:
    assert line in markdown(WHOLE).splitlines()


def test_ignored_findings_are_not_among_those_that_count() -> None:
    text = markdown(WHOLE)
    assert text.count("2 GiB are left") == 1
    assert "New warnings" not in text


def test_if_nothing_changes_it_says_little_else() -> None:
    lines = markdown(NOTHING).strip().splitlines()
    assert lines[0] == "**Plan of dev:** Nothing changes."
    assert len(lines) <= 8
    assert not any(line.startswith(("#", "|", "<details")) for line in lines)


def test_without_a_base_nothing_is_new() -> None:
    text = markdown(ALONE)
    assert "### Errors (1)" in text
    assert "New" not in text
    assert "existing" not in text.lower()
    assert "before:" not in text


def test_a_failed_plan_has_no_tables() -> None:
    failed = replace(
        ALONE, head=replace(ALONE.head, failed="Pulumi.dev.yaml: line 3 cannot be read"), failures=("failed",)
    )
    assert markdown(failed).splitlines()[:6] == [
        "**Plan of dev:** Planning failed: Pulumi.dev.yaml: line 3 cannot be read",
        "",
        "> **This plan does not pass:**",
        ">",
        "> - failed",
        "",
    ]
    assert "|" not in markdown(failed)


def test_links_lead_to_lines_and_rules() -> None:
    links = Links("https://github.com/o/r/blob/abc", "https://github.com/o/r/blob/abc/docs/findings.md")
    text = markdown(WHOLE, links)
    assert "[`models/chat.yaml:9`](https://github.com/o/r/blob/abc/models/chat.yaml#L9)" in text
    assert "(https://github.com/o/r/blob/abc/docs/findings.md#memory-exceeded)" in text


def test_workflows_hand_on_what_is_harmless() -> None:
    """They clean every report, for anybody may have written it; ours has only its marker to lose."""
    host = "https://github.com/o/r/"
    text = markdown(WHOLE, Links(f"{host}blob/abc", f"{host}blob/abc/docs/findings.md"))
    own = text.replace("<!-- inference-platform plan: dev -->\n", "")
    # It may write another spelling of the same page.
    page = MarkdownIt("gfm-like", {"linkify": False})
    assert page.render(cleaned(text, host)) == page.render(own)


def test_a_comment_is_what_markdown_makes_of_it() -> None:
    """Tables are tables and folded parts are folded: each row has as many cells as its heading."""
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(markdown(WHOLE))
    kinds = [token.type for token in tokens]
    assert kinds.count("table_open") == 5
    widths: list[int] = []
    for kind in kinds:
        if kind == "tr_open":
            widths.append(0)
        elif kind in ("th_open", "td_open"):
            widths[-1] += 1
    assert sorted(set(widths)) == [3, 4, 5, 6, 9]
    assert [token.info for token in tokens if token.type == "fence"] == ["diff", "mermaid"]
    opened = [token.content for token in tokens if token.type == "html_block"]
    assert sum("<details>" in block for block in opened) == sum("</details>" in block for block in opened) == 5


def test_every_stack_has_its_marker() -> None:
    assert marker("dev") == "<!-- inference-platform plan: dev -->"
    assert marker("a--> <b>") == "<!-- inference-platform plan: a-____b_ -->"
    assert "--" not in marker("-" * 9)[4:-3]
