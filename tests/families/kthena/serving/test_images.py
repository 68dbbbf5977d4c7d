"""Images of whole pods (Kthena spec 1.4, V3), which only rendering looks at."""

import pytest

from components.fleet.words import Realization
from tests.families.kthena.serving.support import engine, model_serving, pods, role
from tests.fleets import errors, fleet_of


@pytest.mark.parametrize("realization", list(Realization))
@pytest.mark.parametrize("part", ["entryTemplate", "workerTemplate"])
@pytest.mark.parametrize("image", ["vllm/vllm-openai :v0.11.0", " ", "\t"])
def test_an_image_with_a_space_or_of_blanks_is_refused(realization: Realization, part: str, image: str) -> None:
    bad = pods(engine(image=image))
    fleet = fleet_of(model_serving("ms", role("leader", 1, **{part: bad})), realization=realization)
    found = [p for p in errors(fleet) if p.path.endswith("image")]
    assert [p.path for p in found] == [f"spec.template.roles[0].{part}.spec.containers[0].image"]
    assert found[0].reason == f"must be an image reference, without a space, found {image!r}"


def test_init_containers_too() -> None:
    bad = pods(engine(), initContainers=[{"name": "loader", "image": "a b"}])
    fleet = fleet_of(model_serving("ms", role(entryTemplate=bad)))
    assert "spec.template.roles[0].entryTemplate.spec.initContainers[0].image" in [p.path for p in errors(fleet)]


def test_any_other_image_is_none_of_this_rule() -> None:
    good = pods(engine(image="r.example.com:5000/a/b@sha256:" + "0" * 64))
    assert errors(fleet_of(model_serving("ms", role(entryTemplate=good)))) == []
