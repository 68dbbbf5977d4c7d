"""Asks Go itself about random regular expressions; ``python -m tests.contract.go_patterns`` renews the verdicts.

It needs ``go`` on the PATH. With a number, it compares that many patterns instead.
"""

import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from components.contract.go_patterns import pattern_error

RECORDED = Path(__file__).parent / "data" / "go_patterns.json"
"""Pattern and whether ``regexp.Compile`` of Go 1.26.8 accepts it."""
_PROGRAM = """package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var pattern string
		json.Unmarshal(lines.Bytes(), &pattern)
		_, err := regexp.Compile(pattern)
		fmt.Println(err == nil)
	}
}
"""
_PARTS = (
    *"ab01()[]{}*+?|^$\\.-,:<>=!iPpzQEdwxés_ ", "(?", "(?i)", "(?P<n>", "(?<m>", "(?:", "(?=", "(?!", "(?<=", "(?-i)",
    "(?i-s:", "{2}", "{2,}", "{2,3}", "{3,2}", "{1001}", "{100}", "{0}", "\\d", "\\Q", "\\E", "\\z", "\\Z", "\\1",
    "\\12", "\\x41", "\\x{41}", "\\pL", "\\p{Greek}", "\\pX", "[[:alpha:]]", "[[:foo:]]", "[a-z]", "[^", "\\b", "\\-",
    "*+", "a-", "(?>",
)  # fmt: skip


def random_patterns(count: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    return ["".join(chance.choices(_PARTS, k=chance.randint(1, 8))) for _ in range(count)]


def verdicts_of_go(patterns: Sequence[str]) -> list[bool]:
    """Return whether Go accepts each pattern."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "main.go"
        program.write_text(_PROGRAM)
        lines = "\n".join(map(json.dumps, patterns))
        ran = subprocess.run(["go", "run", program], input=lines, capture_output=True, text=True, check=True)
    return [line == "true" for line in ran.stdout.splitlines()]


def main() -> None:
    if len(sys.argv) > 1:
        patterns = random_patterns(int(sys.argv[1]), seed=2)
        pairs = zip(patterns, verdicts_of_go(patterns), strict=True)
        differences = [pattern for pattern, accepted in pairs if (pattern_error(pattern) is None) != accepted]
        print(f"{len(patterns)} patterns, {len(differences)} differences: {differences[:20]}")  # noqa: T201  the result of the command
        return
    patterns = random_patterns(400, seed=1)
    rows = [[pattern, accepted] for pattern, accepted in zip(patterns, verdicts_of_go(patterns), strict=True)]
    RECORDED.parent.mkdir(exist_ok=True)
    RECORDED.write_text("[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]\n")


if __name__ == "__main__":
    main()
