"""Many pods, and pods that pass requests on."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tests.livefleet.pods.stand import Stand, asked
from tests.monitoring.programs.daemon import eventually

PODS = 200


def test_two_hundred_pods_each_on_a_port_of_its_own(stand: Stand) -> None:
    """Warm ones; every one answers, and the endpoint spreads connections over them."""
    group = stand.group("gpu", nodes=2, gpus=100, least=2)
    with stand.playing(stand.fleet(stand.workload(), groups=(group,)), answers=100.0):
        stand.deploy(replicas=PODS)
        eventually(lambda: len(set(stand.backends().values())) == PODS, "a port for each pod", 90)
        eventually(lambda: stand.control.state().models[0].ready == PODS, "every pod Ready", 90)
        addresses = set(stand.backends().values())
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda address: asked(f"http://{address}/v1", 1)[0], addresses))
            assert answers == [200] * PODS
            assert all(answered == 1 for _, answered in stand.answered())
            assert {each[0] for each in pool.map(lambda _: stand.ask(tokens=1), range(PODS))} == {200}
        # 200 connections over 200 pods: with each pod as likely, some 126 get one; less than 100 is one in 10^8.
        assert sum(answered > 1 for _, answered in stand.answered()) >= 100


@pytest.mark.parametrize("role", ["decode", ""], ids=["pair", "plain"])
def test_a_router_passes_requests_on_to_pods_that_decode(stand: Stand, role: str) -> None:
    group = stand.group("gpu", nodes=3, least=3)
    router = replace(stand.workload("router", role="router"), title="demo")
    prefill = replace(stand.workload("prefill", role="prefill"), title="demo")
    decode = replace(stand.workload("decode", role=role), title="demo")
    with stand.playing(stand.fleet(router, prefill, decode, groups=(group,))):
        stand.deploy("router")
        eventually(lambda: stand.ready() == 1, "the router")
        (backend,) = set(stand.backends().values())
        status, body = asked(f"http://{backend}/v1")
        assert (status, "no pod behind it is Ready" in body["error"]["message"]) == (503, True)
        stand.deploy("prefill")
        stand.deploy("decode")
        eventually(lambda: stand.ready() == 3, "the others")
        for _ in range(3):
            assert asked(f"http://{backend}/v1")[0] == 200
        assert dict(stand.answered()) == {"router": 0, "prefill": 0, "decode": 3}
