"""Text of others stays data: in shells, spreadsheets, pages and names of files."""

import html
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.contract.texts.outputs import csv_cell, file_name, html_text, shell_line, shell_word
from components.contract.texts.printable import printable

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("chat-1", "chat-1"),
        ("", "''"),
        ("a b", "'a b'"),
        ("$(id)", "'$(id)'"),
        ("a'b", "'a'\"'\"'b'"),
        ("`id`;#", "'`id`;#'"),
        ("\u6a21", "'\u6a21'"),
        ("a\x1b[2K'", "$'a\\x1b[2K\\''"),
        ("a\nb", "$'a\\x0ab'"),
        ("\u202e\\", "$'\\u202e\\\\'"),
        ("\U000e0041", "$'\\U000e0041'"),
    ],
)
def test_words_of_a_shell(text: str, word: str) -> None:
    assert shell_word(text) == word
    assert shell_line(["echo", text]) == f"echo {word}"


@given(TEXTS)
def test_a_word_shows_all_of_it(text: str) -> None:
    assert printable(shell_word(text)) == shell_word(text)


def test_a_shell_reads_each_word_as_it_was() -> None:
    texts = ["$(id)", "a\x1b[2K", "a\nb", "'\\'", "`id`", "-c", "q\u0435 $HOME", "\u202eabc", "\U000e0041", "*"]
    command = shell_line(["printf", "%s\\0", *texts])
    environment = {"LC_ALL": "C.UTF-8", "PATH": "/bin"}
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=True, cwd="/", env=environment)
    assert done.stdout.decode().split("\0")[:-1] == texts


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-1+1", "'-1+1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\\x09=1"),
        ("\r=1", "'\\x0d=1"),
        ("a\x1b", "a\\x1b"),
        ("-1.5", "-1.5"),
        ("+2e-3", "+2e-3"),
        ("--price", "--price"),
        ("--cmd|' /C calc'!A0", "'--cmd|' /C calc'!A0"),
        ("qwen", "qwen"),
        ("a=b", "a=b"),
        ("", ""),
    ],
)
def test_cells_of_spreadsheets(text: str, cell: str) -> None:
    assert csv_cell(text) == cell


@given(TEXTS)
def test_pages_hold_text_and_no_elements(text: str) -> None:
    written = html_text(text)
    assert not set(written) & set("<>\"'")
    assert html.unescape(written) == printable(text)


@pytest.mark.parametrize("name", ["chat-1", "qwen2.5-7b", "a", "kube-system", "0"])
def test_names_of_kubernetes_are_names_of_files(name: str) -> None:
    assert file_name(name) == name


LEADING_ELSEWHERE = ("", "..", ".", "/", "../../etc/x", "-rf", ".git", "a/b", "a\\b", "a" * 300, "\x1b")


@given(st.one_of(TEXTS, st.sampled_from(LEADING_ELSEWHERE)))
def test_no_name_leads_elsewhere(text: str) -> None:
    name = file_name(text)
    assert Path("/folder", name).resolve().parent == Path("/folder")
    assert not name.startswith(("-", "."))
    assert len(name.encode()) < 220
    assert printable(name) == name


@given(TEXTS, TEXTS)
def test_different_texts_have_different_names(first: str, second: str) -> None:
    assert (file_name(first) == file_name(second)) == (first == second)
