"""Reports problems of components' arguments as problems of the settings that they come from."""

import functools
import re
from collections.abc import Iterator
from contextlib import contextmanager

import pulumi
from pydantic.alias_generators import to_camel

from components.resources.serving.arguments import InvalidArguments
from components.resources.serving.typed_args import keys_below

from .stack_file import StackFile

_PROBLEM = re.compile(
    r"(?P<component>network|cluster|identities): (?P<path>[a-z_]+(?:\[[^\]]*\]|[.\w]+)*): (?P<reason>.*)", re.DOTALL
)
_SNAKE_CASE = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+")
_STACK_ARGUMENTS = frozenset({"cluster_name", "region", "tags", "protect", "model_buckets"})
_OTHER_SECTION = {"image": "gpuNodes.image"}
"""Arguments that come from another section than that of the component."""


@contextmanager
def settings_blamed(file: StackFile) -> Iterator[None]:
    """Convert problems of components to problems of the settings in a file."""
    try:
        yield
    except InvalidArguments as error:
        lines = []
        for line in str(error).splitlines():
            problem = _PROBLEM.fullmatch(line)
            if problem is None:
                lines.append(line)
                continue
            path, reason = in_settings(problem["component"], problem["path"], problem["reason"])
            lines.append(file.message(path, reason))
        raise pulumi.RunError("\n".join(lines)) from None


def in_settings(component: str, path: str, reason: str) -> tuple[str, str]:
    """Return the setting, and a reason that names settings, for a problem of a component's argument.

    Args:
        component: Name of the component, which is that of a section.
        path: The argument; parts of it follow in brackets or after dots.
        reason: The reason, which may name further arguments.
    """
    first = re.split(r"[.\[]", path, maxsplit=1)[0]
    key = to_camel(first)
    if first not in _STACK_ARGUMENTS:
        key = _OTHER_SECTION.get(first, f"{component}.{key}")
    return key + _in_camel_case(path[len(first) :]), _in_camel_case(reason)


def _in_camel_case(text: str) -> str:
    return _SNAKE_CASE.sub(lambda name: to_camel(name[0]) if name[0] in _arguments() else name[0], text)


@functools.cache
def _arguments() -> frozenset[str]:
    from components.resources.aws.args import ClusterArgs, IdentitiesArgs, NetworkArgs

    return frozenset(keys_below(ClusterArgs) | keys_below(IdentitiesArgs) | keys_below(NetworkArgs))
