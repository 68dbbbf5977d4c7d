"""The command as users run it."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.commands.support import workbench
from tests.livefleet.load.server import DONE, event, said, serving, streamed, usage

ANSWER = streamed(event(), event(), usage(3, 2), DONE)


def test_a_rate_for_some_seconds(tmp_path: Path) -> None:
    page, data = tmp_path / "load.html", tmp_path / "load.json"
    with serving(ANSWER) as served:
        ran = workbench(
            *("load", "--url", served.url, "--model", "m", "--rate", "10", "--arrivals", "even", "--duration", "2s"),
            *("--save", page, "--save", data),
        )
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert lines[0] == f"m at {served.url}"
    assert re.fullmatch(r"20 requests in \d\.\d s, at most \d+ at once: 20 answered, 0 failed", lines[1])
    assert lines[2].startswith("60 tokens in, 40 tokens out; ")
    assert [line.split()[:2] for line in lines[-3:]] == [
        ["first", "token"],
        ["between", "tokens"],
        ["whole", "answer"],
    ]
    saved = json.loads(data.read_text())
    assert (saved["model"], saved["whole"], saved["requests"], saved["output_tokens"]) == ("m", True, 20, 40)
    assert "<svg" in page.read_text()


def test_a_trace_and_json(tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text("time,input_tokens,output_tokens\n100,5,7\n100.2,6,8\n")
    with serving(ANSWER) as served:
        ran = workbench("load", "--url", served.url, "--model", "m", "--trace", trace, "--output", "json")
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["requests"] == 2
    assert sorted(body["max_tokens"] for body in served.bodies) == [7, 8]


def test_a_key_goes_to_the_server_and_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-very-secret")
    page, data = tmp_path / "load.html", tmp_path / "load.json"
    with serving(ANSWER) as served:
        ran = workbench(
            *("load", "--url", served.url, "--model", "m", "--users", "1", "--duration", "300ms", "--think", "100ms"),
            *("--key-env", "MY_KEY", "--save", page, "--save", data),
        )
    assert ran.returncode == 0, ran.stderr
    assert set(served.keys) == {"Bearer sk-very-secret"}
    everything = ran.stdout + ran.stderr + page.read_text() + data.read_text()
    assert "sk-very-secret" not in everything


def test_no_answer_at_all_is_a_failure() -> None:
    with serving(said(401)) as served:
        ran = workbench("load", "--url", served.url, "--model", "m", "--users", "1", "--duration", "200ms")
    assert ran.returncode == 1
    assert re.search(r"^  \d+ x HTTP 401$", ran.stdout, re.MULTILINE)


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "xlink:href", "action")]


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", 'a"onload="x', "$x^2$ & \\alpha", "ä\nforged: line"])
def test_hostile_names_stay_text(tmp_path: Path, name: str) -> None:
    page = tmp_path / "load.html"
    with serving(ANSWER) as served:
        ran = workbench(
            *("load", "--url", served.url, "--model", name, "--users", "1", "--duration", "200ms", "--save", page)
        )
    assert ran.returncode == 0, ran.stderr
    assert "forged: line" not in ran.stdout.splitlines()
    found = _Elements()
    found.feed(page.read_text())
    assert "script" not in found.tags
    assert {"h1", "table", "svg"} <= set(found.tags)
    # Nothing is fetched: references lead into the page itself.
    assert all(address.startswith("#") for address in found.addresses)
    assert served.bodies[0]["model"] == name


NOWHERE = ("--url", "http://127.0.0.1:9/v1", "--model", "m")
USAGE = {
    "no way": ([], "pass one of --rate, --users and --trace, found none of them"),
    "two ways": (
        ["--rate", "1", "--users", "1"],
        "pass one of --rate, --users and --trace, found --rate and --users",
    ),
    "a lonely think": (["--rate", "1", "--think", "1s"], "--think: is for users only; pass --users, too"),
    "a wrong rate": (["--rate", "fast"], "--rate: must be requests per second"),
    "a wrong duration": (["--rate", "1", "--duration", "soon"], "--duration: must be a duration"),
    "too much": (["--rate", "100000", "--duration", "1h"], "--rate: 360,000,000 requests are more than 5,000,000"),
    "another form": (["--rate", "1", "--save", "a.pdf"], "--save: must end in .html or .json, found 'a.pdf'"),
    "no folder": (["--rate", "1", "--save", "no/such/a.json"], "--save: there is no folder 'no/such'"),
    "no key": (
        ["--rate", "1", "--key-env", "NO_SUCH_KEY_HERE"],
        "--key-env: the variable 'NO_SUCH_KEY_HERE' is not set",
    ),
    "wrong tokens": (["--rate", "1", "--input-tokens", "0"], "--input-tokens: must be tokens"),
    "no trace": (["--trace", "none.csv"], "--trace: none.csv: No such file or directory"),
}


@pytest.mark.parametrize("name", USAGE)
def test_wrong_usage(name: str) -> None:
    arguments, told = USAGE[name]
    ran = workbench("load", *NOWHERE, *arguments)
    assert ran.returncode == 2
    assert told in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "a.json").mkdir()
    with serving(ANSWER) as served:
        ran = workbench(
            *("load", "--url", served.url, "--model", "m", "--users", "1", "--duration", "200ms"),
            *("--save", tmp_path / "a.json"),
        )
    assert ran.returncode == 1
    assert "Is a directory" in ran.stderr
