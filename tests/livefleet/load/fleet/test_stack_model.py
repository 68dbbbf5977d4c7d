"""From a name to where a model of the stack answers."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from livefleet.fleet import LiveFleet
from livefleet.load.fleet.stack_model import StackModel, stack_model
from tests.livefleet.commands.standin import control, endpoint, project, state, workload
from toolkit.errors import UserError

FLEET = LiveFleet(
    stack="local",
    workloads=(
        workload("chat"),
        workload("code", models=("coder", "coder-lora")),
        workload("a", models=("twin",)),
        workload("b", models=("twin",)),
        workload("vectors", models=("embedder",), embeds=True),
        workload("pair", "pair-prefill", role="prefill", models=("split",)),
        workload("pair", "pair-decode", role="decode", models=("split",)),
    ),
    endpoints=(
        endpoint("chat", "qwen"),
        endpoint("code", "coder"),
        endpoint("a", "twin"),
        endpoint("b", "twin"),
        endpoint("vectors", "embedder"),
        endpoint("pair", "split", "pair-decode"),
        endpoint("route", "both", "chat", "code"),
        endpoint("nowhere", "lost"),
        replace(endpoint("operated", "lost too"), why="an operator makes its pods"),
    ),
)
ENDPOINTS = {
    "chat": "http://127.0.0.1:4001",
    "code": "http://127.0.0.1:4002/v1",
    "a": "http://127.0.0.1:4003/v1/",
    "b": "http://127.0.0.1:4004",
    "vectors": "http://127.0.0.1:4005",
    "pair": "http://127.0.0.1:4006",
    "route": "http://127.0.0.1:4007",
}


def found(tmp_path: Path, name: str, stack: str = "local", *, door: bool = False, **addresses: Any) -> StackModel:
    with control(state()) as served:
        project(tmp_path, served, FLEET, **{"endpoints": ENDPOINTS, **addresses})
        return stack_model(tmp_path, stack, name, door=door)


FOUND = {
    "by its key in the outputs": ("chat", "http://127.0.0.1:4001/v1", "qwen", ("chat",)),
    "by what clients ask for": ("coder", "http://127.0.0.1:4002/v1", "coder", ("code",)),
    "by the name of an adapter": ("coder-lora", "http://127.0.0.1:4002/v1", "coder-lora", ("code",)),
    "one of two with the same model": ("a", "http://127.0.0.1:4003/v1", "twin", ("a",)),
    "a pair has one resource": ("split", "http://127.0.0.1:4006/v1", "split", ("pair",)),
    "a route has the resources behind it": ("both", "http://127.0.0.1:4007/v1", "both", ("chat", "code")),
}


@pytest.mark.parametrize("name", FOUND)
def test_found(name: str, tmp_path: Path) -> None:
    asked, url, model, titles = FOUND[name]
    result = found(tmp_path, asked)
    assert (result.url, result.model, result.titles, result.key) == (url, model, titles, "")


REFUSED = {
    "unknown": ("other", "has no model 'other'; available: chat (qwen), code (coder), a (twin), b (twin), vectors"),
    "ambiguous": ("twin", "several endpoints serve 'twin'; pass one of a, b"),
    "embeddings": ("vectors", "'vectors' serves embeddings; pass a model that generates text"),
    "no simulated pods": ("operated", "no workload answers at endpoint 'operated': an operator makes its pods"),
    "no address": ("nowhere", "'nowhere' has no address on this machine"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, tmp_path: Path) -> None:
    asked, message = REFUSED[name]
    with pytest.raises(UserError) as refused:
        found(tmp_path, asked)
    assert message in str(refused.value)


def test_another_stack(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="plays stack 'local', not 'prod'"):
        found(tmp_path, "chat", "prod")


def test_no_fleet(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no live fleet runs in .*; start it with `make up`.*, or pass --url"):
        stack_model(tmp_path, "local", "chat", door=False)


def test_a_fleet_that_is_down(tmp_path: Path) -> None:
    project(tmp_path, None, FLEET).write_addresses("door", endpoints=ENDPOINTS)
    with pytest.raises(UserError, match="no live fleet runs in "):
        stack_model(tmp_path, "local", "chat", door=False)


def test_no_door(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--door: the live fleet has none; set `expose: gateway`"):
        found(tmp_path, "chat", door=True)
