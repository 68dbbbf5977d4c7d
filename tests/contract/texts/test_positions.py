"""Positions: the line that an editor shows, for errors of the reader itself and for fields of any document."""

import pytest

from components.contract.documents.reader import YamlError, read_documents
from components.families import parse

MODEL = """apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: m}
spec:
  familyName: f
  source: {modelHub: {modelID: a/b}}
  %s: 1
"""


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("a: b\nc: d\x00e\n", 2, "the character U+0000 is not allowed; remove it"),
        ("a: b\n\n\nc: \x01\n", 4, "the character U+0001 is not allowed"),
        ("é: b\nü: ö\nc: \x7f\n", 3, "the character U+007F is not allowed"),
        ("a: b\n\ud800: c\n", 2, "the character U+D800 is not allowed"),
        ("a: b\n\n---\nc: \ufffe\n", 4, "the character U+FFFE is not allowed"),
        (
            "a: b\r\nc: [\r\n",
            2,
            "the bracket opened in line 2 is not closed",
        ),  # what is missing, is missing on the last line
        ("a: b\rc: [\r", 2, "the bracket opened in line 2 is not closed"),
        ("a: 'b\n\n\n", 1, "the quote opened in line 1 is not closed"),
        ("a: b\n---\nc: *d\n", 3, "a value that starts with * refers to an anchor, and there is none"),
        ("# \u2028 \x85\na: b: c\n", 2, "a value with ': ' in it must be in quotes"),
    ],
)
def test_errors_of_the_reader_itself(text: str, line: int, reason: str) -> None:
    with pytest.raises(YamlError) as caught:
        list(read_documents(text))
    assert caught.value.line == line
    assert reason in caught.value.reason
    assert "\n" not in caught.value.reason


@pytest.mark.parametrize(
    ("before", "line"),
    [
        ("", 7),
        ("# ü\n", 8),
        ("a: b\n---\n", 9),
        ("# \u2028 \x85\n", 8),  # lines end there for YAML, and in no editor
        ("a: |\n  é\n\n\n---   # comment\n\n", 13),
        ("%YAML 1.1\n---\n", 9),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_fields_of_a_document(before: str, line: int, end: str) -> None:
    text = (before + MODEL % "familyNam").replace("\n", end)
    (problem,) = (p for p in parse(text).problems if p.kind == "OpenModel")
    assert (problem.line, problem.path) == (line, "spec.familyNam")


WAYS = {
    "indented": "# é\n---\n\n  {api}\n  kind: OpenModel\n  metadata: {meta}\n  spec:\n    {name}\n    {source}\n",
    "in braces": "# é\n\n---\n{{{api}, kind: OpenModel,\nmetadata: {meta},\nspec: {{\n\n{name},\n {source}}}}}\n",
    "beside the marker": "--- {{{api}, kind: OpenModel,\nmetadata: {meta},\nspec: {{\n\n{name},\n {source}}}}}\n",
    "anchored": "---\n&a\n\n{api}\nkind: OpenModel\nmetadata: {meta}\nspec:\n  {name}\n  {source}\n",
    "a list": "---\nkind: List\napiVersion: v1\nitems:\n- {api}\n  kind: OpenModel\n  metadata: {meta}\n"
    "  spec:\n    {name}\n    {source}\n",
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_fields_that_are_located_later(way: str) -> None:
    """After reading, only the document that is asked for is composed again."""
    fields = {"name": "familyName: f", "source": "source: {modelHub: {modelID: a/b}}"}
    filled = way.format(api="apiVersion: llmaz.io/v1alpha1", meta="{name: m}", **fields)
    text = f"{'z: [é]' + chr(10)}---\nz: 1\n{filled}---\nz: 1\n"
    (model,) = parse(text).resources
    lines = text.splitlines()
    for path, word in (("spec.familyName", "familyName"), ("spec.source.modelHub", "modelHub"), ("spec.x", "spec:")):
        assert word in lines[model.problem(path, "").line - 1]
