"""One corpus of secrets and of lookalikes: each secret is hidden wherever it stands, and nothing else is."""

import json
from typing import Any

import pytest

from components.contract.texts.hidden import HIDDEN
from components.contract.texts.secrets import masked, masked_text, replace_in_object, replace_secrets, secret_texts
from tests.contract.texts.corpus import LOOKALIKES, SECRETS, Case


@pytest.mark.parametrize("case", SECRETS, ids=lambda case: case.label)
def test_a_secret_is_hidden(case: Case) -> None:
    assert case.secrets
    shown = json.dumps(masked(case.value))
    for secret in case.secrets:
        assert secret not in shown
    assert HIDDEN.search(shown)
    assert masked(masked(case.value)) == masked(case.value)


@pytest.mark.parametrize("case", SECRETS, ids=lambda case: case.label)
def test_a_secret_is_known_to_messages_that_quote_it(case: Case) -> None:
    known = secret_texts(case.value)
    for quoted in (json.dumps(case.value), str(case.value)):
        shown = masked_text(f"must be a string, found {quoted}", known)
        for secret in case.secrets:
            assert secret not in shown


@pytest.mark.parametrize("case", SECRETS, ids=lambda case: case.label)
def test_a_secret_in_an_object_is_one_for_every_caller(case: Case) -> None:
    """What Pulumi and the local engine seal; what is left is stored in clear."""
    value = case.value if isinstance(case.value, dict) else {"spec": case.value}
    left = json.dumps(replace_in_object({"apiVersion": "v1", "kind": "X", **value}, lambda *_: "sealed"))
    for secret in case.secrets:
        assert secret not in left


@pytest.mark.parametrize("value", LOOKALIKES.values(), ids=LOOKALIKES)
def test_a_lookalike_is_no_secret(value: Any) -> None:
    """It is stored in clear; reports show it only if it is known to be harmless."""
    assert replace_secrets(value, lambda *_: "sealed") == value
    assert secret_texts(value) == frozenset()
