"""What a component of a stack refuses, told as a problem of the setting that its argument comes from."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pulumi
from pydantic.alias_generators import to_camel

from components.api.texts.printable import printable
from components.serving.arguments import InvalidArguments

from .settings import PROJECT

_PROBLEM = re.compile(r"(?P<component>network|cluster|identities): (?P<argument>[a-z_]+)(?P<rest>.*)", re.DOTALL)
_OF_THE_STACK = frozenset({"cluster_name", "region", "tags", "protect", "model_buckets"})
_ELSEWHERE = {"image": "gpuNodes.image"}
"""Arguments that do not come from the section with the name of the component."""


@contextmanager
def settings_blamed(file: str) -> Iterator[None]:
    """Raise the problems of components as those of settings of a file."""
    try:
        yield
    except InvalidArguments as error:
        lines = [_at_setting(line, file) for line in str(error).splitlines()]
        raise pulumi.RunError("\n".join(lines)) from None


def _at_setting(line: str, file: str) -> str:
    found = _PROBLEM.fullmatch(line)
    if found is None:
        return line
    argument = found["argument"]
    key = to_camel(argument) if argument in _OF_THE_STACK else f"{found['component']}.{to_camel(argument)}"
    return printable(f"{file}: {PROJECT}:{_ELSEWHERE.get(argument, key)}{found['rest']}")
