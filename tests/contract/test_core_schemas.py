"""The data file of core types is what the pinned package says."""

from components.contract.schema.embedded import definitions
from tests.contract import core_schemas


def test_the_data_file_has_not_drifted() -> None:
    assert core_schemas.TARGET.read_text() == core_schemas.text(), "run: python tests/contract/core_schemas.py"


def test_what_the_package_requires_is_required() -> None:
    package = core_schemas.packaged()
    for name, found in definitions().items():
        if name not in (core_schemas.QUANTITY, core_schemas.INT_OR_STRING):
            assert found.get("required", []) == package[name].get("required", []), name
            left_out = {field for owner, field in core_schemas.LEFT_OUT if owner == name}
            assert set(found.get("properties", ())) | left_out == set(package[name].get("properties", ())), name


def test_keys_of_list_maps_are_required_or_defaulted() -> None:
    """The API server refuses a CRD otherwise."""
    for name, found in definitions().items():
        for field, inner in found.get("properties", {}).items():
            for key in inner.get("x-kubernetes-list-map-keys", ()):
                item = definitions()[inner["items"]["$ref"].rpartition("/")[2]]
                assert key in item.get("required", ()) or "default" in item["properties"][key], f"{name}.{field}"
