"""The requests of traces, by model."""

from pathlib import Path

import pytest

from livefleet.load.arrivals import DueRequest
from livefleet.virtual.demand import demand_of
from livefleet.virtual.session import VirtualTime
from tests.livefleet.virtual.small import fleet, group, workload
from toolkit.errors import UserError

REQUESTS = [DueRequest(float(number), 10, 5) for number in range(2000)]
TWO = fleet(workload(), workload(name="code"), groups=[group(least=2)], refused={"vectors": "it serves embeddings"})


@pytest.fixture
def trace(tmp_path: Path) -> str:
    path = tmp_path / "trace.csv"
    path.write_text("time,input_tokens,output_tokens\n" + "".join(f"{n},{n + 1},2\n" for n in range(100)))
    return str(path)


@pytest.mark.parametrize(("scale", "number"), [(1.0, 2000), (3.0, 6000), (0.5, 1000), (1.25, 2500)])
def test_the_scale_is_the_factor_of_the_number(scale: float, number: int) -> None:
    demand = demand_of({"chat": REQUESTS}, [], {}, scale, seed=1)["chat"]
    assert len(demand) == pytest.approx(number, rel=0.06)
    assert list(demand.at) == sorted(demand.at)
    assert demand == demand_of({"chat": REQUESTS}, [], {}, scale, seed=1)["chat"]


def test_shares_divide_a_trace() -> None:
    demand = demand_of({}, REQUESTS, {"chat": 3.0, "code": 1.0})
    assert len(demand["chat"]) + len(demand["code"]) == len(REQUESTS)
    assert len(demand["chat"]) == pytest.approx(1500, rel=0.06)


def test_a_trace_without_a_model_goes_to_all_models_without_a_trace(trace: str) -> None:
    demand = VirtualTime([trace]).demand(TWO)
    assert {title: len(found) > 30 for title, found in demand.items()} == {"chat": True, "code": True}
    demand = VirtualTime([trace, f"chat={trace}"]).demand(TWO)
    assert {title: len(found) for title, found in demand.items()} == {"chat": 100, "code": 100}
    demand = VirtualTime([trace], ["code=1"]).demand(TWO)
    assert {title: len(found) for title, found in demand.items()} == {"code": 100}


def test_models_that_one_revision_lacks_get_no_requests_there(trace: str) -> None:
    one = fleet(workload())
    time = VirtualTime([f"code={trace}", f"chat={trace}"])
    assert set(time.demand(one, [TWO])) == {"chat"}
    assert time.run(one, [TWO]).seconds == time.run(TWO, [one]).seconds == 99.0


@pytest.mark.parametrize(
    ("traces", "shares", "told"),
    [
        (["other={}"], [], "--trace: the stack has no model 'other'; simulated are chat, code"),
        (["vectors={}"], [], "--trace: 'vectors' cannot be simulated: it serves embeddings"),
        (["{}"], ["chat"], "--share: must be MODEL=N with a number above 0, found 'chat'"),
        (["{}"], ["chat=0"], "--share: must be MODEL=N with a number above 0, found 'chat=0'"),
        (["{}"], ["caht=1"], "--share: the stack has no model 'caht'; did you mean 'chat'?"),
    ],
)
def test_what_is_refused(trace: str, traces: list[str], shares: list[str], told: str) -> None:
    with pytest.raises(UserError) as refused:
        VirtualTime([text.format(trace) for text in traces], shares).demand(TWO)
    assert told in str(refused.value)


def test_a_fleet_without_models_that_can_be_simulated(trace: str) -> None:
    nothing = type(TWO)("small", refused={"vectors": "it serves embeddings"})
    with pytest.raises(UserError, match=r"no model of the stack can be simulated \(vectors: it serves embeddings\)"):
        VirtualTime([trace]).demand(nothing)


def test_too_many_requests(trace: str) -> None:
    with pytest.raises(UserError, match="--scale: 100,000,000 requests are more than 20,000,000"):
        VirtualTime([trace], scale=1e6)
