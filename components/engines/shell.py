"""Scripts in containers: a value reaches one as a parameter or a variable, and never as a part of its text.

The kubelet replaces ``$(NAME)`` in the words of a command by the value of that variable, also within the text of a
script and whatever quotes are around it (Kubernetes ``third_party/forked/golang/expansion``): a shell would then run
what somebody wrote into a Secret. In a word of its own, a value stays a value.
"""

import re

SHELL = ("sh", "-c")
_PLAIN = re.compile(r"[\w./:@+=,~%-]*", re.ASCII)
_EXPANDED = re.compile(r"\$(?:\$|\(([^)]*)\))")
_READ_BY_KUBELET = re.compile(r"\$(?=[$(])")


def script_words(script: str, name: str, *params: str) -> tuple[str, ...]:
    """Return what makes a container run a script.

    Args:
        script: Its text, the same for everybody; ``"$1"``, ``"$2"`` and so on stand for the parameters.
        name: What the shell calls it in its messages.
        params: Values, with ``$(NAME)`` for the variables of the container.
    """
    return (*SHELL, _verbatim(script), name, *params)


def expanded_variables(text: str) -> frozenset[str]:
    """Return the names of the variables whose values the kubelet writes into a text."""
    return frozenset(name for name in _EXPANDED.findall(text) if name) if "$" in text else frozenset()


def is_shell_word(text: str) -> bool:
    """Tell whether a shell takes a text for a word and nothing else, wherever it stands."""
    return _PLAIN.fullmatch(text) is not None


def _verbatim(text: str) -> str:
    """Write a text such that the kubelet hands it on as it is: it takes ``$$`` for ``$``."""
    return _READ_BY_KUBELET.sub("$$", text)
