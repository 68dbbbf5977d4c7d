"""Scripts in containers, which receive values as parameters or variables, never as part of their text.

The kubelet replaces ``$(NAME)`` in a command by the value of that variable, even within the text of a script and
within quotes (Kubernetes ``third_party/forked/golang/expansion``), so a shell would execute the content of a Secret.
As a separate argument, a value is only data.
"""

import functools
import re
from collections.abc import Iterable

SHELL = ("sh", "-c")
_PLAIN = re.compile(r"[\w./:@+=,~%-]*", re.ASCII)
_EXPANDED = re.compile(r"\$(?:\$|\(([^)]*)\))")
_READ_BY_KUBELET = re.compile(r"\$(?=[$(])")
_WRITTEN_FOR_KUBELET = re.compile(r"\$\$(?=[$(])")
_PLACEHOLDER = re.compile(r"<[a-z]+>")


def script_words(script: str, name: str, *params: str) -> tuple[str, ...]:
    """Return the command of a container that runs a script.

    Args:
        script: Its text, a constant; ``"$1"``, ``"$2"`` and so on are the parameters.
        name: The name of the script in messages of the shell.
        params: Values, with ``$(NAME)`` for the variables of the container.
    """
    # The kubelet turns $$ into $, so doubling keeps it from expanding the script.
    return (*SHELL, _READ_BY_KUBELET.sub("$$", script), name, *params)


def is_script_of(text: str, scripts: Iterable[str]) -> bool:
    """Return whether a text is one of some scripts as containers have it.

    Args:
        text: The text.
        scripts: The scripts, with ``<name>`` in place of the names of variables.
    """
    written = _WRITTEN_FOR_KUBELET.sub("$", text)
    return any(_pattern(script).fullmatch(written) for script in scripts)


@functools.cache
def _pattern(script: str) -> re.Pattern[str]:
    return re.compile(r"\w+".join(map(re.escape, _PLACEHOLDER.split(script))), re.ASCII)


def expanded_variables(text: str) -> frozenset[str]:
    """Return the names of the variables that the kubelet expands in a text."""
    return frozenset(name for name in _EXPANDED.findall(text) if name) if "$" in text else frozenset()


def is_shell_word(text: str) -> bool:
    """Return whether a shell parses a text as a single word without any expansion."""
    return _PLAIN.fullmatch(text) is not None
