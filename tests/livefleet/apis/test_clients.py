"""Official clients, unchanged: what they make of the answers is what applications see."""

import math
from collections.abc import Iterator
from contextlib import contextmanager

import ollama
import openai
import pytest
from openai.types.chat import ChatCompletionUserMessageParam

from livefleet.apis.tokens import count
from livefleet.pods.pod import LivePod
from tests.livefleet.apis.asking import FAST
from tests.livefleet.pods_by_hand import pod_by_hand, serving

HELLO: ChatCompletionUserMessageParam = {"role": "user", "content": "Hello!"}


@contextmanager
def openai_client(pod: LivePod) -> Iterator[openai.OpenAI]:
    with serving(pod) as (url,), openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        yield client


@contextmanager
def ollama_client(pod: LivePod) -> Iterator[ollama.Client]:
    with serving(pod) as (url,):
        client = ollama.Client(host=url)
        try:
            yield client
        finally:
            client._client.close()


ENGINES = ["vllm", "sglang", "tgi", "llamacpp", "ollama"]


@pytest.mark.parametrize("engine", ENGINES)
def test_openai_chat(engine: str) -> None:
    with openai_client(pod_by_hand(engine, speed=FAST)) as client:
        found = client.chat.completions.create(model="demo", messages=[HELLO], max_tokens=20)
        assert found.usage
        assert found.usage.completion_tokens == 20
        content = found.choices[0].message.content
        assert content
        assert count(content) == 20
        assert found.choices[0].finish_reason == "length"
        stream = client.chat.completions.create(
            model="demo", messages=[HELLO], max_tokens=20, stream=True, stream_options={"include_usage": True}
        )
        chunks = list(stream)
        assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == content
        assert chunks[-1].usage
        assert chunks[-1].usage.completion_tokens == 20


@pytest.mark.parametrize("engine", ENGINES)
def test_openai_completions(engine: str) -> None:
    with openai_client(pod_by_hand(engine, speed=FAST)) as client:
        found = client.completions.create(model="demo", prompt="Once upon", max_tokens=5)
        assert count(found.choices[0].text) == 5
        pieces = client.completions.create(model="demo", prompt="Once upon", max_tokens=5, stream=True)
        assert "".join(piece.choices[0].text for piece in pieces if piece.choices) == found.choices[0].text


@pytest.mark.parametrize("engine", ["vllm", "sglang", "llamacpp", "ollama"])
def test_openai_embeddings(engine: str) -> None:
    with openai_client(pod_by_hand(engine, speed=FAST, embeds=True)) as client:
        # The client asks for base64 by itself, and for numbers where it is told to.
        packed = client.embeddings.create(model="demo", input=["a", "b"])
        plain = client.embeddings.create(model="demo", input=["a", "b"], encoding_format="float")
    assert packed.usage.prompt_tokens == 2
    assert [each.index for each in packed.data] == [0, 1]
    for one, other in zip(packed.data, plain.data, strict=True):
        assert one.embedding == pytest.approx(other.embedding, abs=1e-6)
        assert math.hypot(*one.embedding) == pytest.approx(1.0, abs=1e-6)
    assert packed.data[0].embedding != packed.data[1].embedding


def test_openai_lists_names_and_adapters() -> None:
    pod = pod_by_hand(models=("demo", "alias", "sql"), adapters=("sql",), loaded="example/demo-7b")
    with openai_client(pod) as client:
        found = {card.id: card.to_dict() for card in client.models.list()}
        assert client.models.retrieve("sql").id == "sql"
    assert list(found) == ["demo", "alias", "sql"]
    # vLLM: a served name has the model as its root, an adapter the model's first name as its parent.
    assert [(card["root"], card["parent"]) for card in found.values()] == [
        ("example/demo-7b", None),
        ("example/demo-7b", None),
        ("sql", "demo"),
    ]
    assert {card["owned_by"] for card in found.values()} == {"vllm"}


def test_openai_refusals() -> None:
    with openai_client(pod_by_hand(speed=FAST, context=100)) as client:
        with pytest.raises(openai.NotFoundError, match="`other` does not exist"):
            client.chat.completions.create(model="other", messages=[HELLO])
        with pytest.raises(openai.BadRequestError, match="maximum context length is 100 tokens"):
            client.chat.completions.create(model="demo", messages=[HELLO], max_tokens=100)


def test_ollama_chat() -> None:
    with ollama_client(pod_by_hand("ollama", speed=FAST)) as client:
        messages = [{"role": "user", "content": "Hello!"}]
        whole = client.chat("demo", messages, options={"num_predict": 12})
        assert whole.done
        assert whole.done_reason == "length"
        assert whole.eval_count == 12
        # "Hell", "o", "!" and the marks around the message.
        assert whole.prompt_eval_count == 7
        assert whole.message.content
        assert whole.eval_duration
        parts = list(client.chat("demo", messages, options={"num_predict": 12}, stream=True))
        assert "".join(part.message.content or "" for part in parts) == whole.message.content
        assert [part.done for part in parts] == [False] * 12 + [True]
        assert parts[-1].eval_count == 12


def test_ollama_generate_and_go_on() -> None:
    with ollama_client(pod_by_hand("ollama", speed=FAST)) as client:
        first = client.generate("demo:latest", "Once upon", options={"num_predict": 4})
        assert first.response
        assert count(first.response) == 4
        assert first.context
        # "Once", " upon" and the answer.
        assert len(first.context) == 6
        second = client.generate("demo", "and then", context=first.context, options={"num_predict": 4})
        assert second.prompt_eval_count == 6 + 2 + 4
        pieces = list(client.generate("demo", "Once upon", options={"num_predict": 4}, stream=True))
        assert "".join(piece.response or "" for piece in pieces) == first.response.replace("demo:latest", "demo")


def test_ollama_lists_shows_and_embeds() -> None:
    with ollama_client(pod_by_hand("ollama", speed=FAST, models=("demo", "all-minilm:22m"))) as client:
        assert [model.model for model in client.list().models] == ["demo:latest", "all-minilm:22m"]
        assert [model.name for model in client.ps().models] == ["demo:latest", "all-minilm:22m"]
        assert client.show("demo").capabilities == ["completion"]
        found = client.embed("all-minilm:22m", ["a", "b"])
        assert len(found.embeddings) == 2
        assert math.hypot(*found.embeddings[0]) == pytest.approx(1.0)
        assert found.prompt_eval_count == 2
        assert client.embeddings("all-minilm:22m", "a").embedding == found.embeddings[0]
        with pytest.raises(ollama.ResponseError, match="model 'other' not found") as refused:
            client.chat("other", [{"role": "user", "content": "Hello!"}])
        assert refused.value.status_code == 404
