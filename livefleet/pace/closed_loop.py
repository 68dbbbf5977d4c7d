"""What a benchmark of one replica measures whose clients send one request after the other."""

from math import ceil, exp
from typing import NamedTuple

from ..fleet import TokenPace

ROUNDS = 10
"""Requests of each client in a run: InferenceX sends ten times its concurrency."""
_MOST_BUSY = 0.95
"""Share of the time for prompts above which the queue of an open system would not end; here the clients wait."""


class BenchmarkTimes(NamedTuple):
    """Mean seconds to the first token and between tokens."""

    first: float
    between: float


def benchmark_times(
    pace: TokenPace,
    clients: int,
    prompt: float,
    answer: float,
    *,
    rounds: int = ROUNDS,
    receive_steps: int = 1,
    start: float = 0.0,
) -> BenchmarkTimes:
    """Return what a benchmark with a fixed number of clients measures, in the mean of all its requests.

    All clients send their first request at once, and wait for the prompts of each other: that is most of the mean
    time to the first token of a run with many clients. Afterwards, requests arrive as others end, and prompts delay
    the tokens of answers. It is what :class:`.EngineReplica` does, in the mean and in microseconds.

    Args:
        pace: The pace of the replica, which has room for all clients.
        clients: Requests in flight.
        prompt: Mean tokens of a prompt.
        answer: Mean tokens of an answer.
        rounds: Requests that each client sends in the run.
        receive_steps: Steps after which the engine looks for new requests (SGLang: ``--scheduler-recv-interval``).
        start: Seconds that the first request of each client waits for a server that has just started.
    """
    idle_experts = pace.experts * pace.untouched**clients
    decode = pace.step(clients, clients * (prompt + answer / 2))
    computing = pace.prefill * prompt + pace.attention * prompt * (prompt + 1) / 2
    # A step that computes prompts is longer, and reads all experts.
    mixed = pace.eager + idle_experts
    starts = clients / answer  # requests that begin in a step
    with_prompts = 1 - exp(-starts * max(1.0, prompt / pace.chunk))
    between = decode + starts * computing + with_prompts * mixed
    chunks = ceil(prompt / pace.chunk)
    own = computing + chunks * (mixed + decode)
    # The first wave: prompts share the chunk of a step, and answers begin in the meantime.
    wave = computing + (pace.eager + pace.experts + decode / 2) * prompt / pace.chunk
    busy = min(starts * computing / between, _MOST_BUSY)
    queue = busy / (1 - busy) / 2 * computing
    first = pace.before_queue(ceil(prompt)) + between * receive_steps / 2 + own + start / rounds
    if clients > 1:
        first += clients / 2 * wave / rounds + queue
    return BenchmarkTimes(first, between)
