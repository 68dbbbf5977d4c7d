"""promtool: what Prometheus itself says about rules, without one that runs."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_RULES = "rules.yml"


@dataclass(frozen=True, slots=True)
class Promtool:
    """The program, and a folder for the files that it reads."""

    program: Path
    folder: Path

    def check_rules(self, rules: Mapping[str, Any]) -> str:
        """Check a rule file (``{"groups": [...]}``) and return what promtool says.

        Raises:
            AssertionError: promtool refuses it, or its linter has something to say.
        """
        self._write(_RULES, rules)
        return self._run("check", "rules", "--lint=all", "--lint-fatal", _RULES)

    def test_rules(self, rules: Mapping[str, Any], tests: Mapping[str, Any]) -> str:
        """Run unit tests of rules (``{"tests": [...]}``; ``rule_files`` is filled in) and return promtool's words.

        Raises:
            AssertionError: a test fails; the message holds expected and found samples or alerts.
        """
        self._write(_RULES, rules)
        self._write("tests.yml", {"evaluation_interval": "15s", **tests, "rule_files": [_RULES]})
        return self._run("test", "rules", "tests.yml")

    def _write(self, name: str, content: Mapping[str, Any]) -> None:
        (self.folder / name).write_text(json.dumps(content))

    def _run(self, *arguments: str) -> str:
        done = subprocess.run(
            [str(self.program), *arguments], cwd=self.folder, capture_output=True, text=True, check=False
        )
        said = done.stdout + done.stderr
        if done.returncode != 0:
            raise AssertionError(f"promtool {' '.join(arguments)} says:\n{said}")
        return said
