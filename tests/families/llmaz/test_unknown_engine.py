"""TP and PP of a flavor where nobody knows which engine the backend runs."""

from typing import Any

from tests.fleets import container, errors, fleet_of, open_model, playground, runtime, the_error, warnings


def model(gpus: int, **params: str) -> dict[str, Any]:
    named = {"INSTANCE-TYPE": "p4d.24xlarge", **params}
    return open_model(flavors=[{"name": "f", "limits": {"nvidia.com/gpu": gpus}, "params": named}])


def uses(backend: str, **fields: Any) -> dict[str, Any]:
    return {"backendRuntimeConfig": {"backendName": backend, **fields}}


def test_an_engine_that_nobody_knows_is_not_told_of_it() -> None:
    """Models are shared: what one backend cannot be told is no error of the model's."""
    documents = model(2, TP="2"), runtime("own"), playground(**uses("own"))
    fleet = fleet_of(*documents)
    assert not errors(fleet)
    (problem,) = warnings(fleet)
    assert problem.path == "spec.modelClaim.modelName"
    assert "'own'" in problem.reason
    assert "args" not in container(*documents)


def test_an_engine_that_nobody_knows_is_told_by_its_user() -> None:
    """The counter-example: the usual flag is there already."""
    written = playground(**uses("own", args=["--tensor-parallel-size", "2"]))
    assert fleet_of(model(2, TP="2"), runtime("own"), written).problems == ()


def test_a_replica_over_several_pods_needs_an_engine_that_can_join_them() -> None:
    problem = the_error(model(2, TP="2", PP="2"), runtime("own"), playground(**uses("own")))
    assert "does not support multi-node serving" in problem.reason
