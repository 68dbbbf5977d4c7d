"""Tool calls in a chat.

A simulated model calls a tool if the client requires it (``tool_choice``: ``required``, or a named tool). If the
choice is the model's, it answers with text, as a real one may.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import bodies
from ..bodies import ApiError, Body
from ..planning import Form
from ..structured_output import json_form
from .dialect import Dialect, vllm_version

if TYPE_CHECKING:
    from ...pods.pod import LivePod

_REQUIRED = (0, 8, 3)
"""The version of vLLM since which a client may require any tool (pull request 13483)."""
_UNKNOWN_CHOICE = 'Invalid value for `tool_choice`: {}! Only named tools, "none", {} supported.'
_USAGE = 'Correct usage: `{"type": "function", "function": {"name": "my_function"}}`'


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A required tool call.

    Attributes:
        name: Name of the tool.
        arguments: Form of its arguments.
        named: Whether the client named the tool; otherwise it required any.
    """

    name: str
    arguments: Form
    named: bool


def tool_call(pod: "LivePod", dialect: Dialect, body: Body) -> ToolCall | None:
    """Return the tool call that the answer must be; None for text.

    The messages are those of vLLM (``check_tool_usage`` of ``vllm/entrypoints/openai/protocol.py``).

    Raises:
        ApiError: ``tools`` or ``tool_choice`` is invalid.
    """
    tools, choice = _tools(body), body.get("tool_choice")
    if choice is None:
        choice = "auto" if tools else "none"
    if choice == "none" or (dialect.ignores_tool_choice and choice != "auto"):
        return None
    if not tools:
        raise ApiError(400, "When using `tool_choice`, `tools` must be set.", "tool_choice")
    if choice == "auto":
        if pod.workload.tool_refusal:
            raise ApiError(400, pod.workload.tool_refusal, "tool_choice")
        return None
    if choice == "required":
        version = vllm_version(pod.workload.version) if pod.workload.simulated_server == "vllm" else None
        if version and version < _REQUIRED:
            raise ApiError(400, _UNKNOWN_CHOICE.format(choice, 'or "auto" are'), "tool_choice")
        return _call_of(tools[0], named=False)
    name = _tool_name(choice)
    tool = next((tool for tool in tools if tool["name"] == name), None)
    if tool is None:
        message = "The tool specified in `tool_choice` does not match any of the specified `tools`"
        raise ApiError(400, message, "tool_choice")
    return _call_of(tool, named=True)


def _call_of(tool: Body, *, named: bool) -> ToolCall:
    parameters = tool.get("parameters", tool.get("arguments"))
    schema = {"type": "object", "properties": {}} if parameters is None else parameters
    return ToolCall(str(tool["name"]), json_form(schema, "tools"), named)


def _tools(body: Body) -> list[Body]:
    """Return the ``function`` of each tool."""
    functions = []
    for tool in bodies.array(body, "tools") or []:
        function: Any = tool.get("function") if isinstance(tool, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str) or not function["name"]:
            raise ApiError(400, "tools: each must be an object with a function, which has a name", "tools", "body")
        functions.append(function)
    return functions


def _tool_name(choice: object) -> str:
    """Return the name of the tool in ``tool_choice``."""
    if not isinstance(choice, dict):
        message = _UNKNOWN_CHOICE.format(str(choice)[:80], '"auto" or "required" are')
        raise ApiError(400, message, "tool_choice")
    function = choice.get("function")
    if not isinstance(function, dict):
        raise ApiError(400, f"Invalid value for `function` in `tool_choice`! {_USAGE}", "tool_choice")
    name = function.get("name")
    if not isinstance(name, str) or not name:
        raise ApiError(400, f"Expected field `name` in `function` in `tool_choice`! {_USAGE}", "tool_choice")
    return name
