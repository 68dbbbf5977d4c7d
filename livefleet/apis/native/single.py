"""One answer to one prompt, as in all native APIs."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from aiohttp import web

from ..generation import Generation, PodRequest
from ..planning import Prompt, Sampling, plan_answer
from ..replies import StreamReply

if TYPE_CHECKING:
    from ...pods.pod import LivePod

Pieces = Callable[[Generation, range], Iterable[str]]
"""Returns the text to send for new tokens."""
_NS = 1_000_000_000


async def answer_one(
    pod: "LivePod", request: web.Request, model: str, prompt: Prompt, sampling: Sampling
) -> Generation:
    """Wait for a complete answer.

    Raises:
        ApiError: it does not fit into the model's context.
    """
    planned = plan_answer(pod, model, prompt, sampling)
    with PodRequest(pod, request, [(prompt.tokens, planned)], model) as running:
        await running.all()
        return running.generations[0]


async def stream_one(
    pod: "LivePod",
    request: web.Request,
    model: str,
    completion: tuple[Prompt, Sampling],
    pieces: Pieces,
    kind: str = StreamReply.EVENTS,
) -> web.StreamResponse:
    """Stream an answer.

    Raises:
        ApiError: it does not fit into the model's context.
    """
    prompt, sampling = completion
    planned = plan_answer(pod, model, prompt, sampling)
    with PodRequest(pod, request, [(prompt.tokens, planned)], model) as running:
        reply, generation = StreamReply(pod, request, kind), running.generations[0]
        while True:
            await running.more()
            await reply.write(pieces(generation, generation.take()))
            if generation.over:
                return reply.response


def times(generation: Generation) -> tuple[float, float, float]:
    """Return the simulated seconds that a complete answer was queued, in prefill and in decode."""
    job = generation.job
    ended = job.arrived if job.ended is None else job.ended
    first = ended if job.first is None else job.first
    started = first if job.started is None else job.started
    return started - job.arrived, first - started, ended - first


def nanoseconds(seconds: float) -> int:
    return round(seconds * _NS)
