"""Invisible, reordering and lookalike characters in manifests are reported with their location."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.contract.findings.ids import RuleId
from components.contract.problems import Severity
from components.contract.texts.printable import LOOKALIKES, is_controlling, plain_letter, printable
from components.contract.texts.unseen import unseen_reason, unseen_texts
from components.families import parse
from tests.hostile.runs import run

MANIFEST = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {{name: m, annotations: {{note: "{note}"}}}}
spec: {{familyName: qwen2, source: {{modelHub: {{modelID: "{model}"}}}}}}  # {comment}
"""
UNSEEN = ("\u202e", "\u2067", "\u200b", "\u200d", "\ufeff", "\u00ad", "\u2060", "\u3164", "\U000e0041")


def manifest(note: str = "n", model: str = "Qwen/Qwen2-7B", comment: str = "c") -> str:
    return MANIFEST.format(note=note, model=model, comment=comment)


def findings(text: str) -> list[tuple[int, str, Severity, str]]:
    problems = [problem for problem in parse(text).problems if problem.rule is RuleId.CHARACTER_UNSEEN]
    return [(problem.line, problem.path, problem.severity, problem.reason) for problem in problems]


@pytest.mark.parametrize("letter", UNSEEN, ids=ascii)
@pytest.mark.parametrize("as_escape", [False, True], ids=["written", "escape"])
def test_what_is_not_seen_is_reported_with_place_and_code_point(letter: str, as_escape: bool) -> None:
    within = f"a{letter}b"
    if as_escape:
        within = f"a\\U{ord(letter):08x}b"
    path = "spec.source.modelHub.modelID"
    for text, line, where, severity in (
        (manifest(model=within), 4, path, Severity.ERROR),
        (manifest(note=within), 3, "metadata.annotations.note", Severity.WARNING),
    ):
        ((found_line, found_path, found_severity, reason),) = findings(text)
        assert (found_line, found_path, found_severity) == (line, where, severity)
        assert f"U+{ord(letter):04X}" in reason
        assert "remove what is not seen" in reason
    if not as_escape:
        ((line, path, severity, reason),) = findings(manifest(comment=within))
        assert (line, path, severity) == (4, "", Severity.WARNING)
        assert reason.startswith(f"a comment contains U+{ord(letter):04X}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Qw\u0435n", "U+0435 (CYRILLIC SMALL LETTER IE), which looks like 'e'"),
        ("\u0430\u0435", "U+0430"),
        ("--m\u03b1x", "U+03B1"),
        ("\uff21WS", "U+FF21 (FULLWIDTH LATIN CAPITAL LETTER A), which looks like 'A'"),
        ("\U0001d41aws", "U+1D41A"),
        ("--a\u00a0b", "U+00A0 (NO-BREAK SPACE), which looks like ' '"),
        ("a\rb", "U+000D (control character), which is not seen"),
        ("a\x1b[2Kb", "U+001B"),
    ],
    ids=ascii,
)
def test_what_looks_like_another_character(text: str, expected: str) -> None:
    assert expected in unseen_reason(text)
    (found,) = unseen_texts({"spec": {text: 1}})
    assert found.path == ("spec", text)
    assert found.reason.startswith("the key contains U+")


@pytest.mark.parametrize(
    "text",
    [
        "größe naïve 模型 こんにちは\u3000世界",
        "\u043c\u043e\u0434\u0435\u043b\u044c"
        " \u0438 \u0437\u0430\u043f\u0440\u043e\u0441: API-\u0441\u0435\u0440\u0432\u0435\u0440",
        "\u0417\u0434\u0440\u0430\u0432\u0441\u0442\u0432\u0443\u0439\u0442\u0435,"
        " \u0430 \u0441 \u0432\u0430\u043c\u0438 \u043e \u0447\u0451\u043c?",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\U0001f469\u200d\U0001f4bb \u26a0\ufe0f",
        "10 \xb5s, 5 \u03a9, \u0394t, x\xb2",
        "two\r\nlines\r\n\tof Windows",
    ],
)
def test_other_languages_are_no_findings(text: str) -> None:
    assert unseen_reason(text) == ""


def test_text_of_several_lines_may_have_other_spaces_and_words() -> None:
    assert unseen_reason("a\u00a0b", free=True) == ""
    assert "U+202E" in unseen_reason("a\u202eb", free=True)


def test_a_reason_ignores_the_finding() -> None:
    text = manifest(model="a\u200bb").replace(
        "note: ", f"ignore.inference-platform/{RuleId.CHARACTER_UNSEEN}: meant, note: "
    )
    problems = [problem for problem in parse(text).problems if problem.rule is RuleId.CHARACTER_UNSEEN]
    assert [(problem.is_error, problem.ignored) for problem in problems] == [(False, "meant")]


def test_a_carriage_return_alone_is_reported_once_and_one_of_windows_is_not() -> None:
    ((line, _, severity, reason),) = findings(manifest().replace("\n", "\r"))
    assert (line, severity) == (1, Severity.WARNING)
    assert "U+000D" in reason
    assert findings(manifest().replace("\n", "\r\n")) == []


@given(st.text(st.one_of(st.characters(), st.sampled_from([*UNSEEN, *LOOKALIKES, *"aeo "]))))
def test_no_output_shows_what_is_hidden(text: str) -> None:
    shown = printable(text)
    assert not any(map(is_controlling, shown))


@given(st.sampled_from(sorted(LOOKALIKES)))
def test_a_lookalike_within_a_word_is_escaped(letter: str) -> None:
    assert printable(f"x{letter}y") == f"x\\u{ord(letter):04x}y"
    assert plain_letter(letter).isascii()
    assert printable(f"\u0448\u043b\u044f\u043f\u0430 {letter}") == f"\u0448\u043b\u044f\u043f\u0430 {letter}"


@pytest.mark.parametrize("end", ["\r\n", "\r"], ids=["windows", "alone"])
def test_migrate_writes_line_feeds_and_no_mark(end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.yaml").write_bytes(b"\xef\xbb\xbf" + manifest().replace("\n", end).encode())
    options = ("migrate", "m.yaml", "--release", "llmaz=v0.1.0")
    assert run(*options).stdout == ""
    assert "no byte order mark" in run(*options).stderr
    assert run(*options, "--write").code == 0
    assert (tmp_path / "m.yaml").read_bytes() == manifest().encode()
    assert run(*options, "--check").code == 0


@pytest.mark.parametrize("place", ["note", "model", "comment"])
def test_migrate_refuses_what_is_not_seen(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.yaml").write_text(manifest(**{place: "a\u202eb"}), encoding="utf-8")
    printed = run("migrate", "m.yaml", "--release", "llmaz=v0.1.0", "--stdout")
    assert printed.code == 1
    assert "U+202E" in printed.stderr
    assert "\u202e" not in printed.stdout + printed.stderr
