"""What is written of a profile is what the contract takes (WVA spec 2): strings without exponents."""

import re

from hypothesis import given
from hypothesis import strategies as st

from components.families import profile_entries
from components.families.llmd.profiles import profile_of
from components.families.llmd.types import ModelProfile
from components.performance.sizing.cases import Profile

PATTERN = re.compile(r"^\d+(\.\d+)?$")


def test_the_example_of_the_spec() -> None:
    assert profile_entries(Profile("H100", 1, 6.973, 0.027, 64))["llmd"] == {
        "modelProfile": {
            "accelerators": [{"acc": "H100", "accCount": 1, "alpha": "6.973", "beta": "0.027", "maxBatchSize": 64}]
        }
    }


FIGURES = st.floats(1e-12, 1e20)


@given(st.builds(Profile, st.just("H100"), st.integers(1, 64), FIGURES, FIGURES, st.integers(2, 4096)))
def test_every_profile_can_be_written_and_read(profile: Profile) -> None:
    entry = profile_entries(profile)["llmd"]["modelProfile"]
    (one,) = ModelProfile.model_validate(entry).accelerators
    assert profile_of(one) == profile
    assert all(PATTERN.match(entry["accelerators"][0][name]) for name in ("alpha", "beta"))
