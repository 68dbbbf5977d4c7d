"""The environment variables of containers in their commands, for reading only."""

import re
from collections.abc import Mapping
from typing import Any

from ..contract.texts.secret_names import names_secret
from .command_line import CommandLine
from .shell import is_shell_word

_KUBELET = re.compile(r"\$\$|\$\(([A-Za-z_][\w.-]*)\)")
_SHELL = re.compile(r"\\\$|\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})")


def values_of(container: Mapping[str, Any]) -> dict[str, str]:
    """Return the environment variables of a container that it sets itself to a text, by name.

    References to earlier ones are expanded, as the kubelet does. Variables whose names are those of secrets are left
    out: what is expanded is shown.
    """
    values: dict[str, str] = {}
    for variable in container.get("env") or ():
        name, value = (variable.get("name"), variable.get("value")) if isinstance(variable, dict) else (None, None)
        if isinstance(name, str) and isinstance(value, str) and not names_secret(name):
            values[name] = _by_kubelet(value, values)
    return values


def with_values(container: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a container with the variables in its command and arguments replaced by their values.

    Those of the kubelet, ``$(NAME)``, are replaced everywhere, those of a shell, ``$NAME`` and ``${NAME}``, in its
    script, if the value is one word there. A variable without a known value is not replaced.
    """
    values = values_of(container)
    if not values:
        return container
    filled = dict(container)
    for field in ("command", "args"):
        if isinstance(container.get(field), list):
            filled[field] = [_by_kubelet(str(word), values) for word in container[field]]
    line = CommandLine("", "", filled.get("args") or (), filled.get("command") or ())
    if line.script:
        field, place = ("command", line.script)
        if place >= len(line.command):
            field, place = "args", place - len(line.command)
        filled[field][place] = _by_shell(filled[field][place], values)
    return filled


def _by_kubelet(text: str, values: Mapping[str, str]) -> str:
    return _KUBELET.sub(lambda found: values.get(found[1], found[0]) if found[1] else found[0], text)


def _by_shell(text: str, values: Mapping[str, str]) -> str:
    def replaced(found: re.Match[str]) -> str:
        value = values.get(found[1] or found[2] or "")
        return value if value and is_shell_word(value) else found[0]

    return _SHELL.sub(replaced, text)
