"""Whatever others wrote is text in every format: it draws, links, calls and runs nothing."""

import json
import re
import xml.etree.ElementTree as ET
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.plan.review.formats.hostile import hostile
from tests.plan.review.formats.samples import WHOLE
from workbench.planning.formats.data import as_json
from workbench.planning.formats.escaping import code, prose
from workbench.planning.formats.html.page import html
from workbench.planning.formats.markdown import markdown
from workbench.planning.formats.text import text as as_text
from workbench.planning.formats.truncation import LIMIT

PIECES = (
    *("|", "\\", "`", "```", "~~~", "\n", "\r\n", "<", ">", "&", "*", "_", "'", "\t", " ", "é", "🙂", "x" * 500),
    *("<script>alert(1)</script>", "</details>", "<!--", "-->", "&lt;", "&#60;", "' onload='"),
    *("@octocat", "#123", "octo/repo#1", "GH-1", "https://example.com/", "www.example.com", "a@b.com", ":tada:"),
    *("![x](y)", "[x](y)", "[x]: y", "**b**", "~~s~~", "# h", "- l", "1. l", "> q", "---", "===", "$x$", "$`x`$"),
    *(
        "%%{init: {}}%%",
        "]-->",
        '"]',
        "click a0 call x()",
        "subgraph x",
        "end",
        "${X}",
        "$(X)",
        "{{ x }}",
        "{% raw %}",
    ),
    *("\x00", "\x1b[31m", "\u202e", "\u2028", "\ud800", "[bold]"),
)
TEXTS = (
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=5)), min_size=1, max_size=5)
    .map("".join)
    .filter(bool)
)
EACH = settings(deadline=None, max_examples=25)
PARSER = MarkdownIt("gfm-like", {"linkify": False})
ELEMENT = re.compile(r"</?[a-zA-Z!][^<>]*>?")
OURS = {"<br>", "<details>", "</details>", "<summary>", "</summary>", "<sub>", "</sub>", "<code>", "</code>"}


def flat(tokens: list[Token]) -> list[Token]:
    return [each for token in tokens for each in (token, *flat(token.children or []))]


def structure(review_text: str) -> Counter[str]:
    """Count what a comment is made of, but for text and for how names are written."""
    passed_over = {"text", "code_inline", "html_inline", "text_special", "softbreak"}
    return Counter(token.type for token in flat(PARSER.parse(review_text)) if token.type not in passed_over)


PLAIN = structure(markdown(hostile("plain")))


@EACH
@given(TEXTS)
@example("".join(PIECES))
@example("a|b\\|c`d")
@example("`" * 7)
@example("\\")
def test_nothing_is_injected_into_markdown(text: str) -> None:
    comment = markdown(hostile(text), limit=10**7)
    assert structure(comment) == PLAIN
    in_code = False
    for token in flat(PARSER.parse(comment)):
        in_code = token.content == "<code>" or (in_code and token.content != "</code>")
        if token.type in ("html_inline", "html_block"):
            found = set(ELEMENT.findall(token.content))
            assert all(each in OURS or each.startswith("<!-- inference-platform plan:") for each in found), found
        if token.type == "link_open":
            assert str(token.attrs["href"]).startswith("docs/findings.md#")
        if token.type == "text" and not in_code:
            assert not re.search(r"[@#]\w|://|www\.|GH-\d", token.content), token.content


@EACH
@given(TEXTS)
def test_a_name_in_code_is_the_name(text: str) -> None:
    """In a cell of a table a name is one code element with its own letters, escaped where they cannot be seen."""
    tokens = flat(PARSER.parse(f"| a | b |\n| --- | --- |\n| {code(text)} | x |"))
    assert Counter(token.type for token in tokens)["td_open"] == 2
    cell = "".join(token.content for token in tokens if token.type in ("code_inline", "text", "text_special"))
    if len(text) < 200 and text.isprintable() and text.strip() == text:
        assert cell.removeprefix("ab").removesuffix("x") == text


@pytest.mark.parametrize(
    "text", ["@octocat", "#123", "https://x.y", "www.x.y", "GH-12", "a@b.c", "~label", "!12", ":tada:"]
)
def test_a_reference_in_a_sentence_is_broken_by_nothing_that_one_sees(text: str) -> None:
    shown = "".join(token.content for token in flat(PARSER.parse(prose(text))) if token.type.startswith("text"))
    assert shown.replace("\u200b", "") == text
    assert "\u200b" in shown


@EACH
@given(TEXTS)
@example("".join(PIECES))
def test_nothing_is_injected_into_mermaid(text: str) -> None:
    picture = markdown(hostile(text), limit=10**7).split("```mermaid\n")[1].split("\n```")[0].splitlines()
    assert len(picture) == len(markdown(hostile("plain")).split("```mermaid\n")[1].split("\n```")[0].splitlines())
    label = r"(?:[A-Za-z0-9 ]|#\d+;|(?<=\w)[-._/](?=\w)|<br/>)*"
    line = re.compile(rf'flowchart LR|  [abc]\d+\["{label}"\]|  [abc]\d+ --> [abc]\d+|  class(Def)? [\w, #:-]+')
    assert all(line.fullmatch(each) for each in picture), picture


def elements(page: str) -> Counter[str]:
    body = page.removeprefix("<!DOCTYPE html>\n")
    return Counter(element.tag for element in ET.fromstring(body).iter())


PAGE = elements(html(hostile("plain")))


@EACH
@given(TEXTS)
@example("".join(PIECES))
def test_nothing_is_injected_into_a_page(text: str) -> None:
    page = html(hostile(text))
    # A long line in a picture has its whole text as a title; a cause of several words is not written as a field.
    beside = Counter(title=99, code=99)
    assert elements(page) - beside == PAGE - beside
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u200b-\u200f\u2028-\u202e\ud800-\udfff]", page)
    for element in ET.fromstring(page.removeprefix("<!DOCTYPE html>\n")).iter():
        assert not any(name.startswith("on") or name in ("style", "src") for name in element.attrib), element.attrib


@EACH
@given(TEXTS)
def test_a_terminal_is_neither_moved_nor_coloured(text: str) -> None:
    shown = as_text(hostile(text))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", shown)
    assert len(shown.splitlines()) == shown.count("\n")


@EACH
@given(TEXTS)
def test_json_keeps_every_letter(text: str) -> None:
    review = json.loads(as_json(hostile(text)).encode("ascii"))["review"]
    assert review["notes"] == [text]
    assert review["changes"][0]["fields"][0]["path"] == f"{text}13{text}"  # spec.replicas has 13 letters


@settings(deadline=None, max_examples=10)
@given(st.sampled_from(PIECES), st.integers(1, 10))
def test_very_long_texts_are_cut(piece: str, hundreds: int) -> None:
    comment = markdown(hostile(piece * hundreds * 100))
    assert len(comment.encode("utf-16-le", "surrogatepass")) // 2 <= LIMIT
    assert comment.startswith("**Plan of ")
    assert comment.rstrip().endswith("-->")


def test_the_review_of_these_tests_has_texts_everywhere() -> None:
    assert markdown(hostile("QQQ")).count("QQQ") > 100
    assert WHOLE.head.stack not in (hostile("QQQ").head.stack,)
