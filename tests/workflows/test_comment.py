"""The comment: what is in it, and what cannot get out of it."""

import html
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ci.comment import MARKER, MOST, comment
from ci.markdown import block, cleaned, code, length, shares, shortened
from ci.plans import Plans, StackPlan
from tests.tries import tries

HEAD = "0123456789abcdef0123456789abcdef01234567"
LINKS = "https://github.com/acme/models/"


def plans(**exits: int) -> Plans:
    return Plans(7, HEAD, tuple(StackPlan(stack, "models/a.yaml", code) for stack, code in exits.items()))


def test_a_section_for_each_stack() -> None:
    text = comment(plans(dev=0, prod=1), {"dev": "all is well", "prod": "it does not fit"}, "there")
    assert text.startswith(f"{MARKER}\n")
    assert "| `dev` | fine | `models/a.yaml` |" in text
    assert "| `prod` | errors, or a limit is exceeded | `models/a.yaml` |" in text
    assert "<details><summary>dev: fine</summary>\n\nall is well\n" in text
    assert "<details open><summary>prod: errors, or a limit is exceeded</summary>\n\nit does not fit\n" in text
    assert text.index("all is well") < text.index("it does not fit")


def test_no_stack_and_a_removed_one() -> None:
    assert "No stack is affected." in comment(Plans(7, HEAD), {}, "there")
    text = comment(Plans(7, HEAD, (), ("old",)), {}, "there")
    assert "| `old` | removed: its resources remain until `pulumi destroy` | |" in text


@pytest.mark.parametrize("stacks", [1, 2, 7, 100])
def test_it_is_never_too_long(stacks: int) -> None:
    """GitHub refuses more than 65,536 characters, and counts those outside the first plane twice."""
    named = {f"stack-{number:03d}" + "x" * 60: number % 3 for number in range(stacks)}
    report = "<details>\n\n```text\n" + "a line of a report \N{ROCKET}\n" * 5000
    text = comment(plans(**named), dict.fromkeys(named, report), "[there](https://example.org)")
    assert length(text) <= MOST == 65_536
    assert all(f"`{name}`" in text for name in named)
    assert "Truncated:" in text
    assert len(re.findall("<details", text)) == len(re.findall("</details>", text))
    assert text.count("```") % 2 == 0


def test_short_reports_are_whole_beside_a_long_one() -> None:
    texts = {"dev": "short and whole", "prod": "line\n" * 50_000}
    text = comment(plans(dev=0, prod=0), texts, "there")
    assert "short and whole\n\n</details>" in text
    assert text.count("Truncated:") == 1


def test_room_is_divided() -> None:
    assert shares({"a": 10, "b": 10}, 100) == {"a": 10, "b": 10}
    assert shares({"a": 10, "b": 90, "c": 200}, 100) == {"a": 10, "b": 45, "c": 45}
    assert shares({"a": 50, "b": 60}, 0) == {"a": 0, "b": 0}
    assert shares({}, 100) == {}


def test_what_is_cut_is_closed() -> None:
    text = "<details>\n\n````\n```\n" + "x\n" * 100
    shown = shortened(text, 120, "there")
    assert length(shown) <= 120
    assert shown.startswith("<details>\n\n````\n```\nx\n")
    assert shown.endswith("x\n\n````\n\n</details>\n\n*Truncated: the full report is there.*\n")


@given(st.text("a`~\n<>/details \N{ROCKET}", max_size=300), st.integers(60, 300))
def test_whatever_is_cut_is_short_enough(text: str, most: int) -> None:
    assert length(shortened(text, most, "there")) <= most


CLEANED = {
    "someone is called": ("hello @octocat and @acme/team", "hello @\u200coctocat and @\u200cacme/team"),
    "someone is called in italics": ("_@octocat_", "*@\u200coctocat*"),
    "someone is called in bold": ("@**octocat**", "@\u200c**octocat**"),
    "someone is called by an entity": ("&#64;octocat &commat;octocat", "@\u200coctocat @\u200coctocat"),
    "someone is called behind a backslash": ("\\@octocat", "@\u200coctocat"),
    "someone is called in a title": ("# @octocat", "# @\u200coctocat"),
    "someone is called in a cell": ("| @octocat |\n|---|\n| _@a_ |", "| @\u200coctocat |\n| --- |\n| *@\u200ca* |"),
    "someone is called in a tag": ("<sub>&#x40;octocat</sub>", "<sub>@\u200coctocat</sub>"),
    "someone is called in a block of HTML": (
        "<details><summary>&#64;octocat</summary></details>",
        "<details><summary>@\u200coctocat</summary></details>",
    ),
    "an issue elsewhere is told": ("see other/repo#12", "see other/repo#\u200c12"),
    "an image keeps its digest": ("`vllm@sha256:abc`", "`vllm@sha256:abc`"),
    "a picture": ("![x](https://evil.example/a.png)", "x (https://evil.example/a.png)"),
    "a picture by reference": ("![x][y]\n\n[y]: https://evil.example/a.png", "x (https://evil.example/a.png)"),
    "a tag that loads": (
        "a <img src=x> <IMG src=x><script>",
        "a &lt;img src=x> &lt;IMG src=x>&lt;script>",
    ),
    "a block that loads": (
        "<script>\n[x](https://evil.example)\n</script>",
        "&#60;script&#62;\n&#91;x&#93;(https://evil.example)\n&#60;/script&#62;",
    ),
    "a link elsewhere": ("[click](https://evil.example)", "click (https://evil.example)"),
    "an address is a link already": ("<https://example.com/a>", "https://example.com/a"),
    "a link of ours": (f"[docs]({LINKS}blob/main/docs/a.md)", f"[docs](<{LINKS}blob/main/docs/a.md>)"),
    "a link with a title": (f'[docs]({LINKS}a "@octocat")', f"[docs](<{LINKS}a>)"),
    "a link within the page": ("[up](#models)", "[up](<#models>)"),
    "a link that only starts like ours": (
        "[x](https://github.com/acme/models.evil.example)",
        "x (https://github.com/acme/models.evil.example)",
    ),
    "a link that leaves": (f"[x]({LINKS}../../attacker)", f"x ({LINKS}../../attacker)"),
    "a link that leaves, encoded": (f"[x]({LINKS}%2e%2E/../a)", f"x ({LINKS}%2e%2E/../a)"),
    "a link that leaves, encoded twice": (f"[x]({LINKS}%252e%252e/a)", f"x ({LINKS}%252e%252e/a)"),
    "a link that leaves by backslashes": (f"[x](<{LINKS}..\\\\..\\\\a>)", f"x ({LINKS}..%5C..%5Ca)"),
    "a link of a user": (
        "[x](https://github.com@evil.example/acme/models/)",
        "x (https://github.com@\u200cevil.example/acme/models/)",
    ),
    "a script as link": ("[x](javascript:alert(1))", "\\[x\\](javascript:alert(1))"),
    "a link by reference": ("[x]\n\n[x]: https://evil.example", "x (https://evil.example)"),
    "a link by reference in a quote": ("> [x]: https://evil.example\n\n[x]", ">\n\nx (https://evil.example)"),
    "a link by reference in a list": ("- [x]: https://evil.example\n\n[x]", "-\n\nx (https://evil.example)"),
    "a link by reference with two lines": ("[a\nb]\n\n[a\nb]: https://evil.example", "a\nb (https://evil.example)"),
    "a link by reference of another label": ("[a][b c]\n\n[B\n C]: https://evil.example", "a (https://evil.example)"),
    "a footnote": ("a[^1]\n\n[^1]: b", "a^1 (b)"),
    "a warning of the code host": ("> [!CAUTION]\n> a", "> \\[!CAUTION\\]\n> a"),
    "a hidden text": ("<!-- hidden -->", "&#60;&#33;-- hidden --&#62;"),
    "a hidden text in a line": ("a <!-- hidden --> b", "a &lt;!-- hidden --> b"),
    "the marker of one stack": ("a\n<!-- inference-platform plan: dev -->\n", "a"),
    "our marker": (MARKER, "&#60;&#33;-- inference-platform: plans --&#62;"),
    "a declaration": ("<!DOCTYPE html>", "&#60;&#33;DOCTYPE html&#62;"),
    "a fold": ("<details><summary>a</summary>b</details>", "<details><summary>a</summary>b</details>"),
    "an open fold": ("<details open>x</details>", "<details open>x</details>"),
    "a fold with more": ('<details onclick="x">x</details>', "<details>x</details>"),
    "another tag with a like name": ("<detailsx>", "&#60;detailsx&#62;"),
    "text that is turned around": ("a\u202eb\u2066c\x1b[31m", "abc\\[31m"),
    "lines of Windows": ("a\r\nb", "a\nb"),
    "a formula": ("$`x`$ and $$y$$", "\\$`x`\\$ and \\$\\$y\\$\\$"),
    "signs that mean something": ("\\*a\\* \\`b\\` \\# c", "\\*a\\* \\`b\\` # c"),
    "a line that begins something": ("a\n\\- b\n\\# c\n1\\. d\n\\=== ", "a\n\\- b\n\\# c\n1\\. d\n\\==="),
    "a picture of Mermaid": (
        '```mermaid\nflowchart LR\n  a0["x<br/>y"]\n  a0 --> b0\n  classDef good fill:#d7f0dd\n  class a0 good\n```',
        '```mermaid\nflowchart LR\n  a0["x<br/>y"]\n  a0 --> b0\n  classDef good fill:#d7f0dd\n  class a0 good\n```',
    ),
    "a picture with a link": (
        '```mermaid\nflowchart LR\n  click a href "https://evil.example"\n```',
        '```text\nflowchart LR\n  click a href "https://evil.example"\n```',
    ),
    "a picture that loads another one": (
        "```mermaid\nflowchart LR\n  a[\"<img src='https://evil.example'>\"]\n```",
        "```text\nflowchart LR\n  a[\"<img src='https://evil.example'>\"]\n```",
    ),
    "another language that is drawn": ("```geojson&#10;x y\na\n```", "```text\na\n```"),
    "a list in a list": ("- a\n  1. b\n  2. c\n- d", "- a\n  1. b\n  2. c\n- d"),
    "code in a list": ("- a\n\n  ```diff\n  - b\n  ```", "- a\n\n  ```diff\n  - b\n  ```"),
    "code that holds a fence": ("~~~\n```\n</details>\n~~~", "````text\n```\n</details>\n````"),
    "code that is indented": ("    @octocat", "```text\n@octocat\n```"),
    "code in a cell": ("| a |\n|--:|\n| `b\\|c` |", "| a |\n| --: |\n| `b\\|c` |"),
}


@pytest.mark.parametrize("case", CLEANED)
def test_what_somebody_else_wrote_only_says_something(case: str) -> None:
    text, expected = CLEANED[case]
    assert cleaned(text, LINKS) == f"{expected}\n"


@pytest.mark.parametrize("case", CLEANED)
def test_what_is_clean_is_shown_as_it_is(case: str) -> None:
    once = cleaned(CLEANED[case][0], LINKS)
    assert shown(cleaned(once, LINKS)) == shown(once)


BALANCED = {
    "a block that is open": ("```\na\n", "```text\na\n```\n"),
    "a fold that is open": ("<details>\na\n", "<details>\na\n\n</details>\n"),
    "a fold that somebody else opened": (
        "a</details>\nb</details></details>\n",
        "a&lt;/details>\nb&lt;/details>&lt;/details>\n",
    ),
    "a block of them": ("a\n\n</details>\n</div>\n", "a\n\n&#60;/div&#62;\n"),
    "one too many": ("<details></details></details>x\n", "<details></details>x\n"),
    "folds in a block are text": ("```\n</details>\n```\n", "```text\n</details>\n```\n"),
    "a shorter fence closes nothing": ("````\n```\n", "````text\n```\n````\n"),
    "a fold that a quote opens": ("> <details>\n\n</details>\n\na", "> <details>\n>\n> </details>\n\na\n"),
    "a fold that a quote closes": ("<details>\n\n> </details>\n\na", "<details>\n\n>\n\na\n\n</details>\n"),
    "bold for ever": ("<b>a\n\nb", "<b>a</b>\n\nb\n"),
    "bold in a cell": ("| <b>a |\n|---|\n| b |", "| <b>a</b> |\n| --- |\n| b |\n"),
    "a title that is open": ("<details><summary>a\nb\n\nc", "<details><summary>a b</summary>\n\nc\n\n</details>\n"),
}


@pytest.mark.parametrize("case", BALANCED)
def test_a_report_does_not_reach_into_the_next_one(case: str) -> None:
    text, expected = BALANCED[case]
    assert cleaned(text, LINKS) == expected


def test_without_links_none_is_made() -> None:
    assert cleaned(f"[a]({LINKS})", "") == f"a ({LINKS})\n"


APPROVED = sorted((Path(__file__).parents[1] / "plan/review/approved").glob("*/report.md"))


def shown(text: str) -> str:
    """What Markdown shows, without what parts signs from names."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    return html.unescape(parser.render(text)).replace("\u200c", "")


@pytest.mark.parametrize("path", APPROVED, ids=lambda path: path.parent.name)
def test_a_report_of_ours_looks_the_same(path: Path) -> None:
    text = path.read_text().replace("](docs/", f"]({LINKS}docs/")
    marker = "<!-- inference-platform plan: dev -->\n"
    assert shown(cleaned(text, LINKS)) == shown(text.replace(marker, ""))


class _Links(HTMLParser):
    """What a page does: its tags, and the text beside code."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.code = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.code += tag == "code"

    def handle_endtag(self, tag: str) -> None:
        self.code -= tag == "code"

    def handle_data(self, data: str) -> None:
        if not self.code:
            self.texts.append(data)


_ALLOWED = {
    *("p", "a", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "table", "thead"),
    *("tbody", "tr", "th", "td", "hr", "br", "strong", "em", "s", "details", "summary", "sub", "sup", "b", "i"),
}
_PIECES = st.sampled_from(
    [
        *(
            "@octocat",
            "&#64;octocat",
            "[",
            "]",
            "(",
            ")",
            "!",
            "<",
            ">",
            "`",
            "```",
            "~~~",
            "*",
            "_",
            "~~",
            "|",
            "\\",
            "&",
            ";",
        ),
        *("\n", "\n\n", "\n> ", "\n- ", "\n1. ", "\n    ", "\n# ", "\n---\n", "\n|---|\n", " ", "a", ": ", "x\n=="),
        *(
            "https://evil.example",
            LINKS,
            "../",
            "%2e%2e/",
            "javascript:",
            "<img src=https://evil.example>",
            "<!-- x -->",
        ),
        *(
            "<details>",
            "</details>",
            "<summary>",
            "</summary>",
            "<b>",
            "</b>",
            "<a href=x>",
            "</div>",
            "<script>",
            "$",
            "#1",
        ),
    ]
)


@given(st.lists(_PIECES, max_size=40).map("".join))
@settings(max_examples=tries(400), deadline=None)
def test_whatever_is_written_loads_calls_and_leads_nowhere(text: str) -> None:
    made = cleaned(text, LINKS)
    page = _Links()
    page.feed(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(made))
    page.close()
    assert {tag for tag, _ in page.tags} <= _ALLOWED
    for tag, attributes in page.tags:
        href = attributes.pop("href", None)
        assert (href is not None) is (tag == "a")
        assert href is None or href.startswith((LINKS, "#"))
        assert not href or ".." not in unquote(href)
        assert attributes.keys() <= {"style", "start", "class", "open"}
    assert not re.search(r"@\w", "".join(page.texts)), page.texts
    folds = re.sub(r"(`{3,}).*?\1|`[^`]*`", "", made, flags=re.DOTALL)
    assert len(re.findall("<details", folds)) == len(re.findall("</details>", folds))


def test_a_cut_in_a_nested_block_closes_it_where_it_is() -> None:
    text = cleaned("- a\n\n  ```diff\n" + "  - b\n" * 100 + "  ```\n", LINKS)
    made = shortened(text, 150, "there")
    assert length(made) <= 150
    parsed = MarkdownIt("commonmark").parse(made)
    assert [token.type for token in parsed if token.type == "fence"] == ["fence"]
    assert "Truncated:" in parsed[-2].content


def test_hostile_reasons_stay_in_their_cell() -> None:
    made = Plans(7, HEAD, (StackPlan("dev", "a|b`c\n| x | y |\n<script>", 0),))
    (row,) = [line for line in comment(made, {"dev": "x"}, "there").splitlines() if line.startswith("| `dev`")]
    assert row == "| `dev` | fine | `` a\\|b`c \\| x \\| y \\| <script> `` |"


@pytest.mark.parametrize("text", ["", "`", "``a``", "a\nb", "\x00", "\ud800", "|"])
def test_code_is_one_line_and_closed(text: str) -> None:
    shown = code(text)
    fence = shown[: len(shown) - len(shown.lstrip("`"))]
    assert "\n" not in shown
    assert shown.endswith(fence)
    assert fence not in shown[len(fence) : -len(fence)] if fence else False
    shown.encode()


def test_a_log_stays_in_its_block() -> None:
    shown = block("a\n```\n## not a heading\n")
    assert shown == "````text\na\n```\n## not a heading\n````\n"
