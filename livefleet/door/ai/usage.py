"""How many tokens an answer took, as the engine says it.

A stand-in for ``ResponseBody`` in ai-gateway v1.1.0 ``internal/translator``: ``openai_openai.go``,
``openai_completions.go``, ``openai_embeddings.go``.
"""

import json
from dataclasses import dataclass
from typing import Any

_KINDS = {"InputToken": "prompt_tokens", "OutputToken": "completion_tokens", "TotalToken": "total_tokens"}
"""Field of the engine's usage by kind of cost."""


@dataclass(slots=True)
class UsageReader:
    """Reads one answer, piece by piece or as a whole.

    Attributes:
        stream: Whether it comes as server-sent events.
        model: What the answer says that it is from.
    """

    stream: bool
    model: str = ""
    _rest: bytes = b""
    _usage: dict[str, int] | None = None

    def read(self, piece: bytes) -> None:
        """Read a piece.

        Raises:
            ValueError: a whole answer is no JSON.
        """
        if not self.stream:
            found = json.loads(piece)
            self._note(found if isinstance(found, dict) else {})
            return
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            # Most events hold no usage: reading all of them would cost more than the rest of the gateway.
            if line.startswith(b"data:") and (b'"usage"' in line or not self.model):
                self._note(_event(line[len(b"data:") :]))

    def _note(self, body: dict[str, Any]) -> None:
        self.model = str(body.get("model") or "") or self.model
        usage = body.get("usage")
        if isinstance(usage, dict):
            self._usage = {field: _whole(usage.get(field)) for field in _KINDS.values()}

    def cost(self, kind: str) -> int:
        """Return what was taken of a kind of cost; nothing where the engine did not say."""
        return (self._usage or {}).get(_KINDS[kind], 0)


def _whole(value: object) -> int:
    return max(0, value) if isinstance(value, int) else 0


def _event(data: bytes) -> dict[str, Any]:
    """Return what an event says; nothing for the last one, which is not JSON."""
    try:
        found = json.loads(data)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
