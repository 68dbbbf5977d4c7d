"""Command lines are split as argparse splits them."""

import argparse
from typing import Any, NoReturn

from hypothesis import given
from hypothesis import strategies as st

from components.engines.command_line import CommandLine
from components.engines.lint import lint
from tests.engines.test_lint import FLOATING


class Parser(argparse.ArgumentParser):
    """argparse itself, which says no by an exception."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


TYPED: dict[str, Any] = {
    "--port": {"type": int},
    "--mem-fraction-static": {"type": float},
    "--served-model-name": {},
    "--enable-metrics": {"action": "store_true"},
    "--cuda-graph-bs-decode": {"type": int, "nargs": "+"},
    "--dtype": {"choices": ["auto", "half", "float16", "bfloat16", "float", "float32"]},
    "--lora-paths": {"nargs": "*"},
    "--tp-size": {"type": int},
}
PIECES = ["--port", "--tp", "--tp=2", "--dtype", "--dtype=auto", "--served-model-name", "--mem-fraction-static",
          "--enable-metrics", "--enable-metrics=1", "--cuda-graph-bs-decode", "--lora-paths", "1", "2", "-3", "0.5",
          "auto", "x y", "x"]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=6))
def test_arguments_are_split_as_argparse_does(args: list[str]) -> None:
    parser = Parser(prog="sglang", add_help=False)
    for name, options in TYPED.items():
        parser.add_argument(name, **options)
    try:
        parser.parse_args(args)
        refused = False
    except ValueError:
        refused = True
    reasons = [
        each.reason for each in lint(CommandLine("sglang", FLOATING["sglang"], args)) if each.severity == "error"
    ]
    beyond = "from 0 to 65535, found '-3'"  # argparse knows no ranges
    assert bool([reason for reason in reasons if beyond not in reason]) is refused
