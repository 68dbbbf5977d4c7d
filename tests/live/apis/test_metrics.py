"""``/metrics``: the names and types that upstream documents, values of what was really answered."""

from tests.live.apis.asking import FAST, asked
from tests.live.apis.test_openai import CHAT
from tests.live.pods_by_hand import pod_by_hand


def test_tokens_of_an_answer_are_counted() -> None:
    pod = pod_by_hand(speed=FAST)
    _, answer = asked(pod, lambda pod: pod.post("/v1/chat/completions", CHAT))
    status, page = asked(pod, lambda pod: pod.get("/metrics"))
    assert status == 200
    used = answer["usage"]
    assert f'vllm:prompt_tokens_total{{model_name="demo",engine="0"}} {used["prompt_tokens"]}.0\n' in page
    assert f'vllm:generation_tokens_total{{model_name="demo",engine="0"}} {used["completion_tokens"]}.0\n' in page
    assert 'vllm:request_success_total{model_name="demo",engine="0",finished_reason="stop"} 1.0\n' in page
    assert 'vllm:num_requests_running{model_name="demo",engine="0"} 0.0\n' in page
