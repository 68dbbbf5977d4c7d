"""The comment: what is in it, and what cannot get out of it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci.comment import MARKER, MOST, comment
from ci.markdown import balanced, block, cleaned, code, length, shares, shortened
from ci.plans import Plans, StackPlan

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
    assert "No stack is touched." in comment(Plans(7, HEAD), {}, "there")
    text = comment(Plans(7, HEAD, (), ("old",)), {}, "there")
    assert "| `old` | removed: what it runs stays until `pulumi destroy` | |" in text


@pytest.mark.parametrize("stacks", [1, 2, 7, 100])
def test_it_is_never_too_long(stacks: int) -> None:
    """GitHub refuses more than 65,536 characters, and counts those outside the first plane twice."""
    named = {f"stack-{number:03d}" + "x" * 60: number % 3 for number in range(stacks)}
    report = "<details>\n\n```text\n" + "a line of a report \N{ROCKET}\n" * 5000
    text = comment(plans(**named), dict.fromkeys(named, report), "[there](https://example.org)")
    assert length(text) <= MOST == 65_536
    assert all(f"`{name}`" in text for name in named)
    assert "Cut here" in text
    assert len(re.findall("<details", text)) == len(re.findall("</details>", text))
    assert text.count("```") % 2 == 0


def test_short_reports_are_whole_beside_a_long_one() -> None:
    texts = {"dev": "short and whole", "prod": "line\n" * 50_000}
    text = comment(plans(dev=0, prod=0), texts, "there")
    assert "short and whole\n\n</details>" in text
    assert text.count("Cut here") == 1


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
    assert shown.endswith("x\n\n````\n\n</details>\n\n*Cut here: the whole report is there.*\n")


@given(st.text("a`~\n<>/details \N{ROCKET}", max_size=300), st.integers(60, 300))
def test_whatever_is_cut_is_short_enough(text: str, most: int) -> None:
    assert length(shortened(text, most, "there")) <= most


CLEANED = {
    "someone is called": ("hello @octocat and @acme/team", "hello @\u200coctocat and @\u200cacme/team"),
    "an image keeps its digest": ("`vllm@sha256:abc`", "`vllm@sha256:abc`"),
    "a picture": ("![x](https://evil.example/a.png)", "&#33;[x\\](https://evil.example/a.png)"),
    "a tag that loads": ("<img src=x> <IMG src=x><script>", "&lt;img src=x> &lt;IMG src=x>&lt;script>"),
    "a link elsewhere": ("[click](https://evil.example)", "[click\\](https://evil.example)"),
    "a link of ours": (f"[docs]({LINKS}blob/main/docs/a.md)", f"[docs]({LINKS}blob/main/docs/a.md)"),
    "a link that only starts like ours": (
        "[x](https://github.com/acme/models.evil.example)",
        "[x\\](https://github.com/acme/models.evil.example)",
    ),
    "a link by reference": ("[x]\n\n[x]: https://evil.example", "[x]\n\n[x]\\: https://evil.example"),
    "a hidden text": ("<!-- hidden -->", "&lt;!-- hidden -->"),
    "the marker of one stack": ("a\n<!-- inference-platform plan: dev -->\n", "a\n"),
    "our marker": (MARKER, "&lt;!-- inference-platform: plans -->"),
    "a fold": ("<details><summary>a</summary>b</details>", "<details><summary>a</summary>b</details>"),
    "an open fold": ("<details open>x</details>", "<details open>x</details>"),
    "a fold with more": ('<details onclick="x">x</details>', "<details>x</details>"),
    "another tag with a like name": ("<detailsx>", "&lt;detailsx>"),
    "text that is turned around": ("a\u202eb\u2066c\x1b[31m", "abc[31m"),
    "lines of Windows": ("a\r\nb", "a\nb"),
    "a picture of Mermaid": (
        "```mermaid\nflowchart LR\n  A[a] --> B\n```",
        "```mermaid\nflowchart LR\n  A[a] --> B\n```",
    ),
}


@pytest.mark.parametrize("case", CLEANED)
def test_what_somebody_else_wrote_only_says_something(case: str) -> None:
    text, expected = CLEANED[case]
    assert cleaned(text, LINKS) == expected


UNBALANCED = {
    "a block that is open": ("```\na\n", "```\na\n\n```\n"),
    "a fold that is open": ("<details>\na\n", "<details>\na\n\n</details>\n"),
    "a fold that somebody else opened": ("a</details>\nb</details></details>\n", "a\nb\n"),
    "one too many": ("<details></details></details>x\n", "<details></details>x\n"),
    "folds in a block are text": ("```\n</details>\n```\n", "```\n</details>\n```\n"),
    "a shorter fence closes nothing": ("````\n```\n", "````\n```\n\n````\n"),
}


@pytest.mark.parametrize("case", UNBALANCED)
def test_a_report_does_not_reach_into_the_next_one(case: str) -> None:
    text, expected = UNBALANCED[case]
    assert balanced(text) == expected


def test_without_links_none_is_made() -> None:
    assert cleaned(f"[a]({LINKS})", "") == f"[a\\]({LINKS})"


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
