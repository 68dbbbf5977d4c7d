"""Closed vocabularies: equal to their text, and taken as text by strict settings."""

import json

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError

from components.contract.words import Word


class Size(Word):
    """Two words."""

    SMALL = "small"
    LARGE = "large"


class Order(BaseModel):
    """Strict, as the sections of the settings are."""

    model_config = ConfigDict(strict=True, frozen=True)
    size: Size = Size.SMALL
    spare: Size | None = None


def test_a_word_is_its_text() -> None:
    assert list(Size) == ["small", "large"]
    assert f"{Size.SMALL}" == "small"
    assert json.dumps({Size.SMALL: Size.LARGE}) == '{"small": "large"}'


def test_strict_settings_take_the_text() -> None:
    assert Order.model_validate({"size": "large", "spare": "small"}) == Order(size=Size.LARGE, spare=Size.SMALL)


@pytest.mark.parametrize("value", ["huge", "", "Small", 1, True, ["small"]])
@pytest.mark.parametrize("field", ["size", "spare"])
def test_strict_settings_refuse_what_is_no_word(field: str, value: object) -> None:
    with pytest.raises(ValidationError) as caught:
        Order.model_validate({field: value})
    (detail,) = caught.value.errors()
    assert (detail["loc"], detail["msg"]) == ((field,), "Input should be 'small' or 'large'")
