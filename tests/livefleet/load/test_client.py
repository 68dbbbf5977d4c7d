"""One request at a time against a server that answers as it should, and in every other way."""

from typing import Any

import pytest
from aiohttp import web

from livefleet.load.arrivals import DueRequest, Lengths, Range
from livefleet.load.client import LoadTarget
from livefleet.load.outcomes import RequestOutcome, Tally
from livefleet.load.runner import Users, run
from tests.livefleet.load.server import DONE, Answer, event, said, serving, streamed, usage


def asked(answer: Answer, *, times: int = 1, timeout: float = 5.0, key: str = "") -> Tally:
    with serving(answer) as served:
        requests = [DueRequest(0.0, 10, 4) for _ in range(times)]
        tally, whole = run(LoadTarget(served.url, "m", timeout=timeout), requests, key, lambda *_: None)
    assert whole
    return tally


def only(tally: Tally) -> RequestOutcome:
    (outcome,) = tally.outcomes
    return outcome


def test_times_and_tokens_of_a_stream() -> None:
    tally = asked(streamed(0.2, event(), 0.1, event(), 0.3, event(), usage(11, 3), DONE))
    outcome = only(tally)
    assert outcome.error == ""
    assert outcome.ttft is not None
    # Never sooner than the server's own pauses. A client that was late with one piece is not with the next, so that
    # a gap may be shorter than its pause.
    gaps = list(tally.gaps)
    assert len(gaps) == 2
    assert outcome.ttft >= 0.2
    assert outcome.ttft + gaps[0] >= 0.299
    assert 0.599 <= outcome.ttft + sum(gaps) <= outcome.took + 0.001
    assert (outcome.input_tokens, outcome.output_tokens) == (11, 3)


def test_connections_are_used_again() -> None:
    """The end of the body comes after the last event; a client that does not wait for it closes the connection."""
    stream, ports = streamed(event(), DONE, 0.05), list[int]()

    async def answer(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        ports.append(request.transport.get_extra_info("peername")[1] if request.transport else 0)
        return await stream(request, body)

    with serving(answer) as served:
        one = Users(1, 0.0, 0.5, Lengths(Range(10, 10), Range(4, 4)), 0)
        run(LoadTarget(served.url, "m", timeout=30.0), one, "", lambda *_: None)
    assert len(ports) >= 2
    assert len(set(ports)) == 1


def test_pieces_count_where_the_server_does_not() -> None:
    outcome = only(asked(streamed(event(), event("two words"), DONE)))
    assert (outcome.input_tokens, outcome.output_tokens) == (None, 2)


def test_a_server_that_counts_has_the_last_word() -> None:
    """One piece may be several tokens, and a server may count in each piece."""
    counted = {"usage": {"prompt_tokens": 5, "completion_tokens": 7}}
    outcome = only(asked(streamed(event("three words here", **counted), DONE)))
    assert (outcome.input_tokens, outcome.output_tokens) == (5, 7)


def test_the_first_piece_is_the_first_that_says_something() -> None:
    """Engines begin with the role, and with nothing."""
    role = b'data: {"choices": [{"delta": {"role": "assistant", "content": ""}}]}\n\n'
    outcome = only(asked(streamed(role, 0.2, event(), DONE)))
    assert outcome.ttft is not None
    assert outcome.ttft >= 0.2


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_thinking_is_an_answer_too(name: str) -> None:
    thought = b'data: {"choices": [{"delta": {"%s": "hm"}}]}\n\n' % name.encode()
    outcome = only(asked(streamed(thought, thought, DONE)))
    assert (outcome.error, outcome.output_tokens) == ("", 2)


def test_completions_of_a_text() -> None:
    text = b'data: {"choices": [{"text": "a"}]}\r\n\r\n'
    with serving(streamed(text, text, DONE)) as served:
        tally, _ = run(LoadTarget(served.url, "m", chat=False), [DueRequest(0, 3, 4)], "", lambda *_: None)
    assert only(tally).output_tokens == 2
    (body,) = served.bodies
    assert body["path"] == "/v1/completions"
    assert body["prompt"] == "0 word word "


def test_pieces_may_be_cut_anywhere() -> None:
    text = b": a comment\n" + event("a") + b"event: x\n" + event("b") + usage(1, 2) + DONE
    pieces: list[bytes | float] = []
    for at in range(0, len(text), 3):
        pieces += [text[at : at + 3], 0.001]
    outcome = only(asked(streamed(*pieces)))
    assert (outcome.error, outcome.output_tokens) == ("", 2)


WRONG: dict[str, tuple[Answer, str]] = {
    "too many": (said(429), "HTTP 429"),
    "unauthorized": (said(401, '{"error": "no"}'), "HTTP 401"),
    "broken": (said(503), "HTTP 503"),
    "a page": (said(200, "<html>", "text/html"), "no stream, but text/html"),
    "no stream": (said(200, "{}"), "no stream, but application/json"),
    "no JSON": (streamed(b"data: {\n\n", DONE), "stream that is no JSON"),
    "a list": (streamed(b"data: [1]\n\n", DONE), "stream that is no JSON"),
    "deep": (streamed(b"data: " + b"[" * 50_000 + b"\n\n", DONE), "stream that is no JSON"),
    "an error on the way": (
        streamed(event(), b'data: {"error": {"code": 500}}\n\n', DONE),
        "error within the stream",
    ),
    "cut off": (streamed(event(), cut=True), "connection lost"),
    "no end": (streamed(event()), "stream cut off"),
    "nothing": (streamed(DONE), "empty answer"),
    "an endless line": (streamed(b"data: " + b"x" * (2**20 + 10)), "line without an end"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_goes_wrong_has_a_name(name: str) -> None:
    answer, error = WRONG[name]
    assert asked(answer, times=2).errors == {error: 2}


@pytest.mark.parametrize(
    "odd",
    [
        b'{"choices": null}',
        b'{"choices": [null]}',
        b'{"choices": [{"delta": 3}]}',
        b'{"choices": [{"delta": {"content": null}}], "usage": 4}',
        b'{"usage": {"completion_tokens": "many", "prompt_tokens": -1}}',
        b'{"usage": {"completion_tokens": true}}',
    ],
)
def test_odd_events_are_passed_over(odd: bytes) -> None:
    outcome = only(asked(streamed(event(), b"data: " + odd + b"\n\n", DONE)))
    assert (outcome.error, outcome.output_tokens, outcome.input_tokens) == ("", 1, None)


def test_who_waits_too_long_gives_up() -> None:
    tally = asked(streamed(event(), 30.0, DONE), timeout=0.3)
    assert tally.errors == {"no end within 0.3 s": 1}
    assert only(tally).took < 5


def test_nobody_there() -> None:
    with serving(said(200)) as served:
        gone = served.url
    tally, _ = run(LoadTarget(gone, "m"), [DueRequest(0, 1, 1)], "", lambda *_: None)
    assert tally.errors == {"no connection": 1}


def test_what_is_sent() -> None:
    with serving(streamed(event(), DONE)) as served:
        target = LoadTarget(served.url, "acme/m", whole=True)
        run(target, [DueRequest(0, 4, 9), DueRequest(0, 1, 1)], "sk-1", lambda *_: None)
    first, second = sorted(served.bodies, key=lambda body: -body["max_tokens"])
    assert first == {
        "path": "/v1/chat/completions",
        "model": "acme/m",
        "messages": [{"role": "user", "content": "0 word word word "}],
        "max_tokens": 9,
        "temperature": 0,
        "stream": True,
        "stream_options": {"include_usage": True},
        "ignore_eos": True,
    }
    assert second["messages"][0]["content"] == "1 "
    assert served.keys == ["Bearer sk-1", "Bearer sk-1"]


def test_without_a_key_none_is_sent() -> None:
    with serving(streamed(event(), DONE)) as served:
        run(LoadTarget(served.url, "m"), [DueRequest(0, 1, 1)], "", lambda *_: None)
    assert served.keys == [""]
    assert "ignore_eos" not in served.bodies[0]
