from pathlib import Path

import pytest

from livefleet.load.arrivals import DueRequest
from livefleet.load.trace import read_trace
from toolkit.errors import UserError

# The columns of each are those that its publisher's README shows.
TRACES = {
    "ours.csv": "time,input_tokens,output_tokens\n10,100,20\n9.5,50,5\n12,7,0\n",
    "ours.jsonl": (
        '{"time": 10, "input_tokens": 100, "output_tokens": 20}\n\n'
        '{"time": 9.5, "input_tokens": 50, "output_tokens": 5}\n{"time": 12, "input_tokens": 7, "output_tokens": 0}\n'
    ),
    "azure.csv": (
        "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:10.0000000,100,20\n"
        "2023-11-16 18:17:09.5000000,50,5\n2023-11-16 18:17:12,7,0\n"
    ),
    "mooncake.jsonl": (
        '{"timestamp": 10000, "input_length": 100, "output_length": 20, "hash_ids": [0, 1]}\n'
        '{"timestamp": 9500, "input_length": 50, "output_length": 5}\n'
        '{"timestamp": 12000, "input_length": 7, "output_length": 0}\n'
    ),
    "burstgpt.csv": (
        "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
        "10,ChatGPT,100,20,120,Conversation log\n"
        "9.5,ChatGPT,50,5,55,API log\n12,GPT-4,7,0,7,API log\n"
    ),
}


@pytest.mark.parametrize("name", TRACES)
def test_each_publishers_columns(tmp_path: Path, name: str) -> None:
    """In the order of time, from 0, and no answer without a token."""
    path = tmp_path / name
    path.write_text(TRACES[name])
    assert read_trace(path) == [DueRequest(0, 50, 5), DueRequest(0.5, 100, 20), DueRequest(2.5, 7, 1)]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.csv", "", "has no requests"),
        ("a.csv", "time,input_tokens,output_tokens\n", "has no requests"),
        ("a.csv", "time,input_tokens\n1,2\n", ":2: has no tokens of the answer; name the column output_tokens"),
        ("a.csv", f"time,input_tokens,output_tokens\n1,2,{'3' * 200_000}\n", ":1: is not CSV: field larger"),
        ("a.csv", "when,input_tokens,output_tokens\n1,2,3\n", ":2: has no time; name the column time"),
        ("a.csv", "time,input_tokens,output_tokens\n1,2,3\nsoon,2,3\n", ":3: time: must be a number of seconds"),
        ("a.csv", "time,input_tokens,output_tokens\nnan,2,3\n", ":2: time: must be a number of seconds"),
        ("a.csv", "time,input_tokens,output_tokens\n1,-2,3\n", ":2: input_tokens: must be a whole number of tokens"),
        (
            "a.csv",
            "time,input_tokens,output_tokens\n1,2,2.5\n",
            ":2: output_tokens: must be a whole number of tokens",
        ),
        ("a.csv", "time,input_tokens,output_tokens\n1,2,1e99\n", "must be a whole number of tokens"),
        ("a.csv", "time,input_tokens,output_tokens\n1,2\n", ":2: has no tokens of the answer"),
        ("a.jsonl", "[1, 2]\n", ":1: must be a JSON object on one line"),
        ("a.jsonl", '{"time": 1,\n', ":1: must be a JSON object on one line"),
        ("a.jsonl", "[" * 100_000, ":1: must be a JSON object on one line"),
        ("a.jsonl", '{"time": true, "input_tokens": 1, "output_tokens": 1}', ":1: time: must be"),
    ],
)
def test_what_is_no_trace(tmp_path: Path, name: str, text: str, told: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(UserError) as caught:
        read_trace(path)
    assert str(caught.value).startswith(f"--trace: {path}")
    assert told in str(caught.value)


def test_what_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="is not UTF-8 text"):
        read_trace(path)
    with pytest.raises(UserError, match="No such file"):
        read_trace(tmp_path / "b.csv")
    with pytest.raises(UserError, match="Is a directory"):
        read_trace(tmp_path)


def test_what_is_quoted_forges_no_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"time": "\\u001b[31m\\nerror: all is lost", "input_tokens": 1, "output_tokens": 1}')
    with pytest.raises(UserError) as caught:
        read_trace(path)
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)
