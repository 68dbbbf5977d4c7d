"""Edits of models and settings, and the program that they lead to."""

import datetime
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pulumi
import yaml
from hypothesis import strategies as st

from tests.clouds.aws.sizes.account import Block
from tests.clouds.aws.sizes.deployed import NamedGroups
from tests.recorded import Recorded
from tests.stacks.shipped import MOMENT, run


class SetClock(datetime.datetime):
    """A clock that stands still at the moment of :func:`program`."""

    moment = MOMENT

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> "SetClock":
        return cls.fromtimestamp(cls.moment.timestamp(), tz)


Edit = tuple[str, str, Any]
"""What is edited (models, types, nodes, cluster or network), its key, and its value; None takes it away.

``capacity`` is how the nodes of p5.48xlarge are bought, with the Capacity Blocks of :data:`BOUGHT` by ID. ``extend``
makes such a block end so many days later, and ``time`` lets hours pass; neither is in the settings.
"""
KINDS = {
    "chat": ("g5.2xlarge", {"nvidia.com/gpu": 1}),
    "code": ("g6.2xlarge", {"nvidia.com/gpu": 1}),
    "twin": ("g5.2xlarge", {"nvidia.com/gpu": 1}),
    "small": ("m7i.2xlarge", {"cpu": 4}),
    "large": ("p5.48xlarge", {"nvidia.com/gpu": 8}),
}
"""Models: their instance type, and what a pod takes of it."""
_ODCR = {"capacity": "odcr", "reservation": {"id": "cr-0a1b", "zone": "us-east-1b", "count": 3}}
_DAY = datetime.timedelta(days=1)
_NOON = MOMENT - datetime.timedelta(minutes=30)
BOUGHT = {
    "cr-a": (4, _NOON - _DAY, _NOON + 7 * _DAY),
    "cr-b": (2, _NOON + 7 * _DAY, _NOON + 14 * _DAY),
    "cr-c": (3, _NOON + 3 * _DAY, _NOON + 20 * _DAY),
}
"""Capacity Blocks: instances, start, end. The first runs, the second follows it, the third begins before it ends."""
FIRST: dict[str, Any] = {
    "models": {"chat": 1, "small": 1},
    "types": {"p5.48xlarge": _ODCR},
    "nodes": {"scaleToZero": True},
    "cluster": {"version": "1.34"},
    "network": {"zones": ["us-east-1a", "us-east-1b"]},
}
_NAMED: st.SearchStrategy[Any] = st.lists(
    st.tuples(st.sampled_from(sorted(BOUGHT)), st.integers(1, 5)),
    min_size=1,
    max_size=3,
    unique_by=lambda each: each[0],
)
_TYPES = st.sampled_from(["g5.2xlarge", "g6.2xlarge", "m7i.2xlarge"])
_ROLE = "arn:aws:iam::123456789012:role/nodes"


def _of(what: str, key: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Edit]:
    return st.tuples(st.just(what), st.just(key), values)


def _of_type(key: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Edit]:
    return st.tuples(st.just("types"), _TYPES.map(lambda name: f"{name}.{key}"), values)


_OF_BLOCKS: st.SearchStrategy[Edit] = st.one_of(
    _of("capacity", "odcr", st.integers(1, 4)),
    _of("capacity", "on-demand", st.none()),
    _of("capacity", "capacity-block", _NAMED),
    _of("capacity", "capacity-block", _NAMED),
    _of("extend", "cr-a", st.sampled_from([1, 7])),
    _of("time", "hours", st.sampled_from([1, 7, 24, 71, 168])),
    _of("time", "hours", st.sampled_from([1, 7, 24, 71, 168])),
    _of("nodes", "userData", st.sampled_from([None, "#!/bin/sh\ntrue\n"])),
    _of("nodes", "imdsHopLimit", st.sampled_from([None, 2])),
    _of("nodes", "amiRelease", st.sampled_from(["1.34.10-20261101", "1.35.7-20261101"])),
)
_OTHERS: st.SearchStrategy[Edit] = st.one_of(
    st.tuples(st.just("models"), st.sampled_from(sorted(KINDS)), st.none() | st.integers(1, 4)),
    st.tuples(st.just("models"), st.sampled_from(sorted(KINDS)), st.none() | st.integers(1, 4)),
    _of_type("minNodes", st.none() | st.integers(0, 3)),
    _of_type("maxNodes", st.none() | st.integers(1, 5)),
    _of_type("zones", st.sampled_from([None, ["us-east-1a"], ["us-east-1b"]])),
    _of("types", "g5.2xlarge.spotTypes", st.sampled_from([None, ["g5.4xlarge"], ["g5.4xlarge", "g5.8xlarge"]])),
    _of("nodes", "scaleToZero", st.booleans()),
    _of("nodes", "capacity", st.sampled_from(["spot", "on-demand"])),
    _of("nodes", "image", st.sampled_from(["al2023", "bottlerocket"])),
    _of("nodes", "zones", st.sampled_from([None, ["us-east-1a", "us-east-1b"], ["us-east-1b"]])),
    _of("nodes", "nodeRepair", st.booleans()),
    _of("nodes", "diskGib", st.sampled_from([100, 200])),
    _of("network", "zones", st.just(["us-east-1a", "us-east-1b", "us-east-1c"])),
    _of("cluster", "systemNodes", st.integers(1, 5)),
    _of("cluster", "systemNodesMax", st.none() | st.integers(3, 8)),
    _of("cluster", "systemInstanceTypes", st.sampled_from([["m7i.large"], ["m7i.xlarge"]])),
    _of("cluster", "nodeRoleArn", st.sampled_from([None, _ROLE])),
    _of("cluster", "version", st.just("1.35")),
)
EDITS: st.SearchStrategy[Edit] = st.one_of(_OF_BLOCKS, _OTHERS)


def edited(settings: Mapping[str, Any], edit: Edit) -> dict[str, Any]:
    """Return settings with one edit more."""
    what, key, value = edit
    changed: dict[str, Any] = json.loads(json.dumps(settings))
    if what in ("time", "extend"):
        return changed
    if what == "capacity":
        changed["types"]["p5.48xlarge"] = {"capacity": key}
        if key == "odcr":
            changed["types"]["p5.48xlarge"] = {**_ODCR, "reservation": {**_ODCR["reservation"], "count": value}}  # type: ignore[dict-item]
        if key == "capacity-block":
            changed["types"]["p5.48xlarge"]["blocks"] = value
        return changed
    place = changed[what]
    if what == "types":
        name, _, key = key.rpartition(".")
        place = place.setdefault(name, {})
    place[key] = value
    if value is None:
        del place[key]
    return changed


def with_times(settings: Mapping[str, Any], blocks: Mapping[str, Block]) -> dict[str, Any]:
    """Return settings whose Capacity Blocks have the times that they have by now."""
    types = dict(settings["types"])
    rule = dict(types.get("p5.48xlarge", {}))
    if "blocks" in rule:
        first, *others = [_reservation(id_, count, blocks[id_]) for id_, count in rule.pop("blocks")]
        types["p5.48xlarge"] = {**rule, "reservation": first, **({"nextBlocks": others} if others else {})}
    return {**settings, "types": types}


def _reservation(id_: str, count: int, block: Block) -> dict[str, Any]:
    times = {"starts": block.starts.isoformat(), "ends": block.ends.isoformat()}
    return {"id": id_, "zone": "us-east-1b", "count": count, **times}


def program(settings: Mapping[str, Any], now: datetime.datetime = MOMENT) -> Recorded | None:
    """Run the program of some settings at a moment; None where it refuses them."""
    SetClock.moment = now
    types = {name: rule for name, rule in settings["types"].items() if rule}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "models.yaml")
        documents = [each for name, replicas in settings["models"].items() for each in _model(name, replicas)]
        file.write_text(yaml.safe_dump_all(documents))
        try:
            return run(
                "dev",
                NamedGroups(),
                models=[str(file)],
                gpuNodes={**settings["nodes"], "types": types},
                cluster=settings["cluster"],
                network=settings["network"],
                **({"tags": settings["tags"]} if settings.get("tags") else {}),
                hardening={},
            )
        except pulumi.RunError:
            return None


def _model(name: str, replicas: int) -> list[dict[str, Any]]:
    kind, limits = KINDS[name]
    flavor = {"name": name, "limits": limits, "params": {"INSTANCE-TYPE": kind}}
    need = {"cpu": "2", "memory": "4Gi"}
    return [
        {
            "apiVersion": "llmaz.io/v1alpha1",
            "kind": "OpenModel",
            "metadata": {"name": f"of-{name}"},
            "spec": {
                "familyName": "opt",
                "source": {"modelHub": {"modelID": "facebook/opt-125m"}},
                "inferenceConfig": {"flavors": [flavor]},
            },
        },
        {
            "apiVersion": "inference.llmaz.io/v1alpha1",
            "kind": "Playground",
            "metadata": {"name": name},
            "spec": {
                "replicas": replicas,
                "modelClaim": {"modelName": f"of-{name}"},
                "backendRuntimeConfig": {"resources": {"requests": need, "limits": need}},
            },
        },
    ]
