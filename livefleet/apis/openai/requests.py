"""Parse and validate requests of the OpenAI API."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import bodies
from ..bodies import ApiError, Body
from ..planning import Form, Prompt, Sampling, plan_answer
from ..structured_output import guided_form, json_form, only_form, pattern_form, response_format, unknown_form
from ..texts import PlannedText
from ..tokens import counted
from .dialect import Dialect, vllm_version
from .tools import ToolCall, tool_call

if TYPE_CHECKING:
    from ...pods.pod import LivePod

_MAX_ANSWERS = 128
"""Maximum answers to a prompt (OpenAI API reference)."""
_MAX_INPUTS = 2048
"""Maximum answers, or inputs of embeddings, in a request."""
MARKS = 4
"""Approximate tokens that a chat template adds to a message: its role, its start and its end."""
_OTHER_PART = 256
"""Tokens of a part other than text, such as an image."""


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """A request for chat messages or completions.

    Attributes:
        model: Name of the model that answers.
        response_model: Name of the model in the response, as in the request.
        prompts: The prompts, all with the same number of answers.
        answers: Answers to all prompts, in order.
        stream: Whether the response is streamed.
        usage: Whether a stream ends with the usage.
        call: The tool call that each answer must be; None for text.
    """

    model: str
    response_model: str
    prompts: tuple[Prompt, ...]
    answers: tuple[PlannedText, ...]
    stream: bool
    usage: bool
    call: ToolCall | None = None

    @property
    def pairs(self) -> Iterator[tuple[int, PlannedText]]:
        """Prompt tokens and text of each answer."""
        per_prompt = len(self.answers) // len(self.prompts)
        return ((self.prompts[index // per_prompt].tokens, answer) for index, answer in enumerate(self.answers))

    def usage_object(self) -> dict[str, Any]:
        """Return the ``usage`` object of the response."""
        prompt = sum(prompt.tokens for prompt in self.prompts)
        answer = sum(answer.tokens for answer in self.answers)
        return {"prompt_tokens": prompt, "total_tokens": prompt + answer, "completion_tokens": answer}


def model_in(pod: "LivePod", dialect: Dialect, body: Body) -> str:
    """Return the name of the model that answers.

    Raises:
        ApiError: the engine has no such model.
    """
    names, name = pod.workload.models, bodies.text(body, "model")
    if name in names:
        return str(name)
    if name and dialect.strict:
        raise ApiError(404, f"The model `{name}` does not exist.", "model", "model")
    return names[0]


async def read_chat(pod: "LivePod", dialect: Dialect, body: Body) -> CompletionRequest:
    """Parse a chat request.

    Raises:
        ApiError: it is invalid.
    """
    model = model_in(pod, dialect, body)
    messages = _messages(body)
    tokens, contents = 0, []
    for message, content in zip(messages, contents_of(body), strict=True):
        contents.append((message["role"], content))
        tokens += MARKS + await counted(content) + await _other_tokens(pod, dialect, message)
    call = tool_call(pod, dialect, body)
    tools = body.get("tools")
    tokens += await counted(json.dumps(tools)) if tools else 0
    limit = bodies.integer(body, "max_completion_tokens", 1) or bodies.integer(body, "max_tokens", 1)
    return _request(
        pod, dialect, body=body, model=model, prompts=(Prompt(tokens, contents),), max_tokens=limit, call=call
    )


async def read_completion(pod: "LivePod", dialect: Dialect, body: Body) -> CompletionRequest:
    """Parse a completion request.

    Raises:
        ApiError: it is invalid.
    """
    model = model_in(pod, dialect, body)
    prompts = tuple([Prompt(await _tokens(prompt), prompt) for prompt in _prompts(body.get("prompt"))])
    limit = bodies.integer(body, "max_tokens", 1) or dialect.default_max_tokens
    return _request(pod, dialect, body=body, model=model, prompts=prompts, max_tokens=limit)


def _request(
    pod: "LivePod",
    dialect: Dialect,
    body: Body,
    model: str,
    prompts: tuple[Prompt, ...],
    max_tokens: int | None,
    call: ToolCall | None = None,
) -> CompletionRequest:
    number = bodies.integer(body, "n", 1) or 1
    if number > _MAX_ANSWERS or number * len(prompts) > _MAX_INPUTS:
        raise ApiError(400, f"n: at most {_MAX_ANSWERS} answers, and {_MAX_INPUTS} of all prompts", "n")
    stream, options = bodies.flag(body, "stream"), bodies.json_object(body, "stream_options")
    if options and not stream:
        raise ApiError(400, "Stream options can only be defined when `stream=True`.", "stream_options")
    min_tokens = bodies.integer(body, "min_tokens", 0) or 0
    if max_tokens is not None and min_tokens > max_tokens:
        raise ApiError(
            400, f"min_tokens must be less than or equal to max_tokens={max_tokens}, got {min_tokens}.", "min_tokens"
        )
    sampling = Sampling(
        max_tokens=max_tokens,
        min_tokens=min_tokens,
        ignore_eos=bodies.flag(body, "ignore_eos"),
        stops=bodies.texts(body, "stop"),
        seed=bodies.integer(body, "seed"),
        truncate=dialect.truncates,
        form=call.arguments if call else _form(pod, dialect, body),
    )
    answers = [plan_answer(pod, model, prompt, sampling, index) for prompt in prompts for index in range(number)]
    return CompletionRequest(
        model=model,
        response_model=bodies.text(body, "model") or model,
        prompts=prompts,
        answers=tuple(answers),
        stream=stream,
        usage=bodies.flag(options, "include_usage"),
        call=call,
    )


def _form(pod: "LivePod", dialect: Dialect, body: Body) -> Form | None:
    """Return the form of structured output, from the fields of the engine."""
    forms = [response_format(body)]
    if dialect.guided:
        forms.append(guided_form(body, vllm_version(pod.workload.version)))
    if pod.workload.simulated_server == "sglang":
        forms.append(pattern_form(body["regex"], "regex") if body.get("regex") is not None else None)
    if pod.workload.simulated_server == "llamacpp":
        forms.append(json_form(body["json_schema"], "json_schema") if body.get("json_schema") is not None else None)
    for name, engine in (("ebnf", "sglang"), ("grammar", "llamacpp")):
        if body.get(name) and pod.workload.simulated_server == engine:
            raise unknown_form(name, "grammars")
    return only_form(forms, "response_format")


def contents_of(body: Body) -> list[str]:
    """Return the text of each chat message: a string, or the texts in an array of parts.

    Raises:
        ApiError: the messages are missing or invalid.
    """
    contents = []
    for message in _messages(body):
        content = message.get("content")
        if content is None or isinstance(content, str):
            contents.append(content or "")
            continue
        if not isinstance(content, list) or not all(isinstance(part, str | dict) for part in content):
            raise ApiError(400, "messages: content must be a string or an array of parts", "messages", "body")
        text_parts = [part for part in content if isinstance(part, str) or "text" in part]
        texts = [part if isinstance(part, str) else part["text"] for part in text_parts]
        if not all(isinstance(text, str) for text in texts):
            raise ApiError(400, "messages: the text of a part must be a string", "messages", "body")
        contents.append("\n".join(texts))
    return contents


def _messages(body: Body) -> list[Body]:
    messages = bodies.array(body, "messages")
    if not messages:
        raise ApiError(400, "messages: must be an array with at least one message", "messages", "body")
    for message in messages:
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise ApiError(400, "messages: each must be an object with a role", "messages", "body")
    return messages


async def _other_tokens(pod: "LivePod", dialect: Dialect, message: Body) -> int:
    """Return the number of tokens of content other than text, such as an image.

    Raises:
        ApiError: the model accepts text only, and its engine rejects anything else.
    """
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    others = [part for part in parts if isinstance(part, dict) and "text" not in part]
    if pod.workload.images is not False or not others:
        return _OTHER_PART * len(others)
    if pod.workload.image_refusal:
        raise ApiError(dialect.image_status, pod.workload.image_refusal, "messages")
    if not dialect.image_text:
        return 0
    # A part has its content under the name of its type: {"type": "image_url", "image_url": {"url": ...}}.
    images = (part.get(str(part.get("type"))) for part in others)
    urls = (image.get("url") if isinstance(image, dict) else image for image in images)
    return sum([await counted(dialect.image_text.replace("<url>", str(url or ""))) for url in urls])


def _prompts(value: object) -> list[Any]:
    """Return prompts: a text, tokens, or a list of either (OpenAI API reference, completions)."""
    prompts = value if isinstance(value, list) else [value]
    if prompts and all(map(_is_token, prompts)):
        return [prompts]
    for prompt in prompts:
        is_tokens = isinstance(prompt, list) and bool(prompt) and all(map(_is_token, prompt))
        if not (isinstance(prompt, str) or is_tokens):
            raise ApiError(400, "prompt: must be a string, an array of tokens, or several of them", "prompt", "body")
    if not prompts or len(prompts) > _MAX_INPUTS:
        raise ApiError(400, f"prompt: must be 1 to {_MAX_INPUTS} prompts, found {len(prompts)}", "prompt")
    return prompts


async def _tokens(prompt: str | list[int]) -> int:
    """Return the length of a prompt; an empty one still has its start token."""
    return max(await counted(prompt) if isinstance(prompt, str) else len(prompt), 1)


def _is_token(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


async def read_embedding_inputs(body: Body) -> list[tuple[int, object]]:
    """Return the tokens and the content of each input of an embeddings request.

    Raises:
        ApiError: it is invalid.
    """
    try:
        return [(await _tokens(text), text) for text in _prompts(body.get("input"))]
    except ApiError as error:
        message = error.message.replace("prompts", "inputs").replace("prompt:", "input:")
        raise ApiError(error.status, message, "input", error.kind) from None
