"""Text for terminals and logs: width, colors, tables, findings and the closing line."""

import io
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace

import pytest

from toolkit.screen import Message, Screen, Styled, TableColumn, columns_of, hidden_findings, shortened

NAME = "meta-llama/Llama-3.1-8B-Instruct-AWQ"
COLUMNS = (
    TableColumn("MODEL", shortens=True),
    TableColumn("FITS"),
    TableColumn("GPUS"),
    TableColumn("$/MONTH", right=True),
    TableColumn("START"),
)
ROW = ("chat", "3.2 GiB", "2 A10G", "1,770", "13 min")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "environ", "width"),
    [
        (io.StringIO(), {}, 80),
        (Terminal(), {}, 80),  # a terminal that does not tell its width
        (io.StringIO(), {"COLUMNS": "120"}, 120),
        (Terminal(), {"COLUMNS": "120"}, 120),
        (io.StringIO(), {"COLUMNS": "0"}, 80),
        (io.StringIO(), {"COLUMNS": "wide"}, 80),
        (io.StringIO(), {"COLUMNS": "5"}, 40),
    ],
)
def test_width(stream: io.StringIO, environ: Mapping[str, str], width: int) -> None:
    assert Screen.of(stream, environ).width == width


def test_a_word_that_is_longer_than_a_line_is_broken_in_text_only() -> None:
    path = "spec.elasticConfig.scaleTrigger.hpa.behavior.scaleDown"
    assert [*Screen(40).text(path)] == ["spec.elasticConfig.scaleTrigger.hpa.", "behavior.scaleDown"]
    assert [*Screen(40).table([TableColumn("FIELD")], [[path]])] == ["FIELD", path]


def test_a_cut_cause_is_known() -> None:
    long = Message(severity="warning", rule="a", place="f:1", cause="cause " * 60)
    for severity, cut in (("warning", True), ("error", False)):
        finding = replace(long, severity=severity)
        printed = [*Screen().findings([finding], most=3, cause_lines=3)]
        assert any(line.endswith("…") for line in printed) is cut
        assert Screen().cuts_causes([finding], most=3, cause_lines=3) is cut
    assert not Screen().cuts_causes([replace(long, cause="short")], cause_lines=3)
    assert not Screen().cuts_causes([replace(long, severity="note")], cause_lines=3), "not printed at all"


def test_titles_of_columns_are_escaped() -> None:
    (title,) = Screen().table([TableColumn("\x1b[31mload")], [])
    assert title == "\\x1b[31mload"


@pytest.mark.parametrize(
    ("stream", "environ", "colors"),
    [
        (Terminal(), {}, True),
        (io.StringIO(), {}, False),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"NO_COLOR": ""}, True),
        (Terminal(), {"TERM": "dumb"}, False),
        (io.StringIO(), {"FORCE_COLOR": "1"}, True),
        (io.StringIO(), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_colors(stream: io.StringIO, environ: Mapping[str, str], colors: bool) -> None:
    assert Screen.of(stream, environ).colors is colors


def test_the_width_of_a_terminal() -> None:
    """A pseudo-terminal has the width that was set for it."""
    import fcntl
    import pty
    import struct
    import termios

    leader, follower = pty.openpty()
    try:
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 97, 0, 0))
        with os.fdopen(os.dup(follower), "w") as stream:
            assert Screen.of(stream, {}) == Screen(97, colors=True)
    finally:
        os.close(leader)
        os.close(follower)


def test_rich_is_not_imported() -> None:
    code = "import sys, toolkit.screen; sys.exit('rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_table_that_has_room() -> None:
    assert [*Screen(80).table(COLUMNS, [ROW])] == [
        "MODEL  FITS     GPUS    $/MONTH  START",
        "chat   3.2 GiB  2 A10G    1,770  13 min",
    ]


def test_numbers_are_aligned_right() -> None:
    lines = [*Screen(80).table((TableColumn("N", right=True), TableColumn("NAME")), [("7", "a"), ("1,770", "b")])]
    assert lines == ["    N  NAME", "    7  a", "1,770  b"]


@pytest.mark.parametrize("width", [50, 60, 80, 120])
def test_a_table_does_not_break_inside_words(width: int) -> None:
    rows = [(f"Playground/{NAME}", "3.2 GiB of 21.6 GiB left", "2 A10G, 4 L40S", "1,770", "about 13 min"), ROW]
    lines = [*Screen(width).table(COLUMNS, rows)]
    assert max(map(len, lines)) <= width
    words = re.findall(r"[^\s/-]+", " ".join(cell for row in rows for cell in row))
    for word in re.findall(r"[^\s/-]+", " ".join(lines[1:])):
        assert word in words or "…" in word, lines


def test_a_table_wraps_before_it_shortens() -> None:
    columns = (TableColumn("MODEL", shortens=True), TableColumn("GPUS"))
    lines = [*Screen(40).table(columns, [(NAME, "2 x NVIDIA A10G")])]
    assert lines == [
        "MODEL                    GPUS",  # 23 columns are left for the first one
        "meta-llama/Llama-3.1-    2 x NVIDIA A10G",
        "8B-Instruct-AWQ",
    ]


def test_a_word_without_blanks_is_shortened_where_that_is_allowed() -> None:
    long = "a" * 60
    shortens = [*Screen(40).table((TableColumn("NAME", shortens=True), TableColumn("N")), [(long, "1")])]
    whole = [*Screen(40).table((TableColumn("NAME"), TableColumn("N")), [(long, "1")])]
    assert shortens[1].split() == ["a" * 18 + "…" + "a" * 18, "1"]
    assert whole[1].split() == [long, "1"]


def test_addresses_are_neither_wrapped_nor_shortened() -> None:
    url = "http://127.0.0.1:39741/models/chat-model/v1"
    lines = [*Screen(40).table((TableColumn("NAME"), TableColumn("ADDRESS", whole=True)), [("a chat model", url)])]
    assert any(url in line for line in lines)


def test_wide_letters_take_two_columns() -> None:
    assert columns_of("模型") == 4
    lines = [*Screen(40).table((TableColumn("NAME"), TableColumn("N")), [("模型", "1"), ("chat", "2")])]
    assert lines[1:] == ["模型  1", "chat  2"]
    assert columns_of(shortened("模" * 30, 20)) <= 20


@pytest.mark.parametrize("content", ["a\x1b[31mb", "a\nb", "a\u202eb"])
def test_control_characters_are_escaped(content: str) -> None:
    screen = Screen(80)
    finding = Message(severity="error", rule="r", place=content, subject=content, cause=content, help=content)
    lines = [
        *screen.text(content),
        *screen.table((TableColumn("A"),), [(content,)]),
        *screen.findings([finding]),
        *screen.findings([finding, finding], details=True),
    ]
    assert all(line.isprintable() for line in lines)


def test_only_text_is_colored() -> None:
    lines = [*Screen(80, colors=True).table((TableColumn("A"), TableColumn("B")), [(Styled("x", "error"), "y")])]
    assert lines == ["\x1b[1mA\x1b[0m  \x1b[1mB\x1b[0m", "\x1b[1;31mx\x1b[0m  y"]


def _finding(number: int = 19, severity: str = "error", rule: str = "memory-exceeded", **fields: str) -> Message:
    values = {
        "subject": "Playground/chat spec.replicas",
        "cause": "needs 30.1 GiB on each of its GPUs, of which 21.6 GiB can be used",
        "help": "choose a GPU with more memory",
    }
    return Message(severity=severity, rule=rule, place=f"models/chat.yaml:{number}", **{**values, **fields})


def test_a_finding() -> None:
    assert [*Screen(60).finding(_finding())] == [
        "error[memory-exceeded] models/chat.yaml:19",
        "  Playground/chat spec.replicas: needs 30.1 GiB on each of",
        "  its GPUs, of which 21.6 GiB can be used",
        "  help: choose a GPU with more memory",
    ]


def test_further_findings_of_a_rule_are_counted() -> None:
    findings = [_finding(number, "warning", "flags-unknown") for number in range(1, 17)]
    lines = [*Screen(80).findings(findings)]
    assert lines[0] == "warning[flags-unknown] models/chat.yaml:1 (and 15 more)"
    assert len([line for line in lines if line.startswith("warning")]) == 1


def _titles(findings: list[Message], most: int | None = None) -> list[str]:
    return [line for line in Screen(80).findings(findings, most=most) if not line.startswith(" ")]


def test_errors_come_first_and_three_of_a_rule_are_printed() -> None:
    findings = [_finding(1, "warning", "flags-unknown"), *(_finding(number) for number in range(2, 5))]
    assert _titles(findings) == [
        "error[memory-exceeded] models/chat.yaml:2",
        "error[memory-exceeded] models/chat.yaml:3",
        "error[memory-exceeded] models/chat.yaml:4",
        "warning[flags-unknown] models/chat.yaml:1",
    ]
    assert hidden_findings(findings) == []


def test_of_many_errors_of_a_rule_the_first_is_printed() -> None:
    findings = [_finding(number) for number in range(1, 5)]
    assert _titles(findings) == ["error[memory-exceeded] models/chat.yaml:1 (and 3 more)"]
    assert hidden_findings(findings) == ["all errors"]


def test_what_has_no_room_is_named() -> None:
    findings = [*(_finding(number) for number in range(1, 4)), _finding(1, "warning", "flags-unknown")]
    assert len(_titles(findings, most=3)) == 3
    assert hidden_findings(findings, most=3) == ["all warnings"]
    assert hidden_findings([_finding(severity="note")]) == ["notes"]


def test_a_long_cause_of_a_warning_is_cut() -> None:
    long = "word " * 100
    warning = [*Screen(80).findings([_finding(1, "warning", cause=long)], cause_lines=3)]
    assert warning[3].endswith(" …")
    assert warning[4].startswith("  help: ")
    error = [*Screen(80).findings([_finding(cause=long)], cause_lines=3)]
    assert " ".join(error).count("word") == 100


def test_details_print_every_place_once() -> None:
    findings = [_finding(number, "note", "image-inferred") for number in range(1, 17)]
    assert [*Screen(80).findings(findings)] == []
    lines = [*Screen(80).findings(findings, details=True)]
    assert lines[0] == "note[image-inferred] 16 times"
    for number in range(1, 17):
        assert sum(line.strip().startswith(f"models/chat.yaml:{number} ") for line in lines) == 1
    assert sum("help:" in line for line in lines) == 1


def test_findings_with_other_causes_are_kept_apart() -> None:
    findings = [_finding(1), _finding(2, cause="needs 40 GiB")]
    titles = [line for line in Screen(80).findings(findings, details=True) if not line.startswith(" ")]
    assert titles == ["error[memory-exceeded] models/chat.yaml:1", "error[memory-exceeded] models/chat.yaml:2"]


def test_the_closing_line() -> None:
    screen = Screen(80)
    assert [*screen.closing([_finding(severity="note")], ("terms", "sources", "cold starts"))] == [
        "0 errors, 1 note (--details: terms, sources, cold starts)"
    ]
    findings = [_finding(), _finding(), _finding(severity="warning"), _finding(severity="ignored")]
    assert [*screen.closing(findings, checked="3 resources in 1 file")] == [
        "3 resources in 1 file: 2 errors, 1 warning, 1 ignored"
    ]


def test_an_ignored_finding_names_the_reason() -> None:
    finding = _finding(severity="ignored", help="measured")
    assert [*Screen(80).findings([finding])] == []
    assert [*Screen(80).findings([finding], details=True)][-1] == "  reason: measured"
