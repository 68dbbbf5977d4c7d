"""The rules of metadata."""

from components.contract.meta import ObjectMeta


def test_rules_about_one_field_hold_without_it() -> None:
    """Nobody asks them then."""
    bare = ObjectMeta.model_validate({"name": "a"})
    assert {rule.of for rule in ObjectMeta.rules} <= ObjectMeta.model_fields.keys() - bare.model_fields_set
    assert [broken for rule in ObjectMeta.rules for broken in rule.broken(bare)] == []
