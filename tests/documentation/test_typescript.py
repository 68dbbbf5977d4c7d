"""The TypeScript programs: classes, arguments and outputs are those of the schema. Nothing here compiles them."""

import json
import re

import pytest

from tests.documentation.blocks import ROOT, Block, blocks

SCHEMA = json.loads((ROOT / "components/schema.json").read_text())["resources"]
TOKEN = "inference-platform:index:"


@pytest.mark.parametrize("block", blocks("typescript"), ids=str)
def test_its_names_are_those_of_the_schema(block: Block) -> None:
    made = re.findall(r"const (\w+) = new platform\.(\w+)\(\"\w+\", \{\n(.*?)^\}, \{", block.text, re.M | re.S)
    assert made
    classes = {variable: SCHEMA[TOKEN + name] for variable, name, _ in made}
    for _, name, body in made:
        keys = set(re.findall(r"^    (\w+):", body, re.MULTILINE))
        described = SCHEMA[TOKEN + name]
        assert keys
        assert keys <= set(described["inputProperties"])
        assert set(described.get("requiredInputs", [])) <= keys
    for variable, key in re.findall(r"\b(\w+)\.(\w+)[,;]", block.text):
        assert key in classes[variable]["properties"]
        # An output is given to nothing that must be plain.
        for _, name, body in made:
            for argument in re.findall(rf"^    (\w+): {variable}\.{key},", body, re.MULTILINE):
                assert "plain" not in SCHEMA[TOKEN + name]["inputProperties"][argument]
