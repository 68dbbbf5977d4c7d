"""Reports problems of components' arguments as problems of the settings that they come from."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pulumi
from pydantic.alias_generators import to_camel

from components.contract.texts.printable import printable
from components.resources.serving.arguments import InvalidArguments
from components.resources.serving.typed_args import keys_below

from . import PROJECT

_PROBLEM = re.compile(r"(?P<component>network|cluster|identities): (?P<argument>[a-z_]+)(?P<rest>.*)", re.DOTALL)
_SNAKE_CASE = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+")
_STACK_ARGUMENTS = frozenset({"cluster_name", "region", "tags", "protect", "model_buckets"})
_OTHER_SECTION = {"image": "gpuNodes.image"}
"""Arguments that come from another section than that of the component."""


@contextmanager
def settings_blamed(file: str) -> Iterator[None]:
    """Convert problems of components to problems of the settings in a file."""
    try:
        yield
    except InvalidArguments as error:
        from components.resources.aws.args import ClusterArgs, IdentitiesArgs, NetworkArgs

        arguments = keys_below(ClusterArgs) | keys_below(IdentitiesArgs) | keys_below(NetworkArgs)
        lines = []
        for line in str(error).splitlines():
            problem = _PROBLEM.fullmatch(line)
            if problem is None:
                lines.append(line)
                continue
            argument = problem["argument"]
            key = to_camel(argument)
            if argument not in _STACK_ARGUMENTS:
                key = _OTHER_SECTION.get(argument, f"{problem['component']}.{key}")
            # The message may name further arguments.
            reason = _SNAKE_CASE.sub(
                lambda name: to_camel(name[0]) if name[0] in arguments else name[0], problem["rest"]
            )
            lines.append(printable(f"{file}: {PROJECT}:{key}{reason}"))
        raise pulumi.RunError("\n".join(lines)) from None
