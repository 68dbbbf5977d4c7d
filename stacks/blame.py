"""Reports problems of components' arguments as problems of the settings that they come from."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pulumi
from pydantic.alias_generators import to_camel

from components.contract.texts.printable import printable
from components.resources.serving.arguments import InvalidArguments
from components.resources.serving.typed_args import keys_below

from .settings import PROJECT

_PROBLEM = re.compile(r"(?P<component>network|cluster|identities): (?P<argument>[a-z_]+)(?P<rest>.*)", re.DOTALL)
_SEVERAL_WORDS = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+")
_OF_THE_STACK = frozenset({"cluster_name", "region", "tags", "protect", "model_buckets"})
_ELSEWHERE = {"image": "gpuNodes.image"}
"""Arguments that come from another section than that of the component."""


@contextmanager
def settings_blamed(file: str) -> Iterator[None]:
    """Convert problems of components to problems of the settings in a file."""
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
    return printable(f"{file}: {PROJECT}:{_ELSEWHERE.get(argument, key)}{_as_keys(found['rest'])}")


def _as_keys(text: str) -> str:
    """Convert names of arguments in a message to those of settings."""
    known = _arguments()
    return _SEVERAL_WORDS.sub(lambda found: to_camel(found[0]) if found[0] in known else found[0], text)


def _arguments() -> frozenset[str]:
    from components.resources.aws.args import ClusterArgs, IdentitiesArgs, NetworkArgs

    return keys_below(ClusterArgs) | keys_below(IdentitiesArgs) | keys_below(NetworkArgs)
