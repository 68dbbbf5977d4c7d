"""Load from a Python program; the command has more ways to say what is sent."""

from .arrivals import Arrivals, FromTo, Lengths, planned
from .client import LoadTarget
from .runner import run
from .summary import LoadSummary, summary


def put_load(
    url: str,
    model: str,
    *,
    rate: float,
    seconds: float,
    input_tokens: int = 200,
    output_tokens: int = 100,
    key: str = "",
    timeout: float = 300.0,
    seed: int = 0,
    simulated: bool = False,
) -> LoadSummary:
    """Send streamed chats to an endpoint with OpenAI's API, and return what its clients saw. Ctrl-C ends it early.

    Requests arrive at random (a Poisson process), whatever becomes of those before.

    Args:
        url: Where the API begins, such as ``http://127.0.0.1:8000/v1``.
        model: What is asked for.
        rate: Requests a second.
        seconds: How long requests are sent.
        input_tokens: Tokens of a request, about.
        output_tokens: Tokens of an answer, at most.
        key: Sent as a bearer token; empty for none.
        timeout: Seconds after which a request is given up.
        seed: The same seed sends the same requests at the same times.
        simulated: Whether a simulated engine answers: then ``engine`` of the result has its own times.
    """
    lengths = Lengths(FromTo(input_tokens, input_tokens), FromTo(output_tokens, output_tokens))
    requests = planned(FromTo(rate, rate), seconds, Arrivals.POISSON, 1, lengths, seed)
    target = LoadTarget(url.rstrip("/"), model, chat=True, whole=False, timeout=timeout, simulated=simulated)
    tally, _ = run(target, requests, key, lambda _seconds, _tally: None)
    return summary(tally)
