"""``python -m documentation.pictures``: the pictures of the documentation, recorded from what the commands print."""

import io
import os
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs/pictures"
PLAN = ("plan", "stacks/models/qwen-chat.yaml", "stacks/models/gemma-elastic.yaml", "--cluster", "eks")
_WIDTH = 142
_FORMAT = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
  <style>
    .{unique_id}-matrix {{
      font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
      font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width;
    }}
    .{unique_id}-title {{ font-size: 18px; font-family: sans-serif; }}
    {styles}
  </style>
  <defs>
    <clipPath id="{unique_id}-clip-terminal">
      <rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
    </clipPath>
    {lines}
  </defs>
  {chrome}
  <g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
    {backgrounds}
    <g class="{unique_id}-matrix">{matrix}</g>
  </g>
</svg>
"""
"""Rich's own format loads a font from another host."""


def printed(arguments: tuple[str, ...]) -> str:
    """Return what a command prints on a terminal of the pictures' width."""
    env = {**os.environ, "COLUMNS": str(_WIDTH), "NO_COLOR": "1"}
    command = [sys.executable, "-m", "workbench", *arguments]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True).stdout


def picture(arguments: tuple[str, ...], text: str) -> str:
    """Return the SVG of a terminal with a command and what it printed."""
    console = Console(record=True, width=_WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text(f"$ workbench {' '.join(arguments)}", style="bold"))
    console.print(Text(text.rstrip()))
    return console.export_svg(
        title="workbench plan", theme=DIMMED_MONOKAI, code_format=_FORMAT, unique_id="workbench-plan"
    )


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    (PICTURES / "plan.svg").write_text(picture(PLAN, printed(PLAN)), encoding="utf-8")
