"""``python -m tests.bench.plain_stream TOKENS PAUSE``: answers every request with a stream of so many events.

What simulated engines are measured against: the same HTTP library, as many events, and nothing to compute.
"""

import asyncio
import json
import sys

from aiohttp import web

LOOPBACK = "127.0.0.1"
_EVENT = {
    "id": "chatcmpl-00000000000000000000000000000000",
    "object": "chat.completion.chunk",
    "created": 0,
    "model": "demo",
    "choices": [{"index": 0, "delta": {"content": " word"}, "finish_reason": None}],
}


async def _serve(tokens: int, pause: float) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        json.loads(await request.read())
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for _ in range(tokens):
            await asyncio.sleep(pause)
            await response.write(b"data: " + json.dumps(_EVENT).encode() + b"\n\n")
        await response.write(b"data: [DONE]\n\n")
        return response

    application = web.Application()
    application.router.add_post("/{path:.*}", answer)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, LOOPBACK, 0).start()
    print(runner.addresses[0][1], flush=True)  # noqa: T201
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), float(sys.argv[2])))
