"""Read the token usage that an engine reports in its response.

A stand-in for ``ResponseBody`` in ai-gateway v1.1.0 ``internal/translator``: ``openai_openai.go``,
``openai_completions.go``, ``openai_embeddings.go``.
"""

import json
from dataclasses import dataclass

_KINDS = {"InputToken": "prompt_tokens", "OutputToken": "completion_tokens", "TotalToken": "total_tokens"}
"""Field of the engine's usage by kind of cost (``llmRequestCosts`` of an AIGatewayRoute)."""


@dataclass(slots=True)
class UsageReader:
    """Reads one response, in chunks or as a whole.

    Attributes:
        stream: Whether it consists of server-sent events.
        model: The model that the response names.
    """

    stream: bool
    model: str = ""
    _rest: bytes = b""
    _usage: dict[str, int] | None = None

    def read(self, piece: bytes) -> None:
        """Read a chunk.

        Raises:
            ValueError: a whole response is not JSON.
        """
        if not self.stream:
            self._note(json.loads(piece))
            return
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            # Most events have no usage: parsing all of them would cost more than the rest of the gateway.
            if line.startswith(b"data:") and (b'"usage"' in line or not self.model):
                try:
                    event = json.loads(line[len(b"data:") :])
                except ValueError:
                    continue  # the last event is ``[DONE]``
                self._note(event)

    def _note(self, body: object) -> None:
        if not isinstance(body, dict):
            return
        self.model = str(body.get("model") or "") or self.model
        usage = body.get("usage")
        if isinstance(usage, dict):
            counts = {field: usage.get(field) for field in _KINDS.values()}
            self._usage = {field: max(0, n) if isinstance(n, int) else 0 for field, n in counts.items()}

    def cost(self, kind: str) -> int:
        """Return the tokens of a kind of cost; 0 if the engine did not report them."""
        return (self._usage or {}).get(_KINDS[kind], 0)
