"""The pictures of the documentation, recorded from what the commands print.

python -m documentation.pictures          # plan.svg
python -m documentation.pictures live     # live.svg: a fleet on a simulated cluster under load, in three minutes
"""

import io
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs/pictures"
PLAN = ("plan", "stacks/models/qwen-chat.yaml", "stacks/models/gemma-elastic.yaml", "--cluster", "eks")
WATCH = ("watch", "--once")
_WIDTHS = {"plan": 80, "watch": 142}
"""Columns of the terminal of a command; a fleet is watched in a wider one."""
_MODELS = ("llmkube-autoscaled", "gemma-elastic", "qwen-chat", "kthena-autoscaled")
_LOADS = {"phi4-autoscaled": "10..40", "gemma-elastic": "1..4", "qwen-chat": "2"}
"""Models under load, and their requests per second."""
_LOAD_SECONDS, _SECONDS_BEFORE = 150, 120
_SETTINGS = """\
config:
  pulumi:disable-default-providers: [kubernetes, aws]
  inference-platform:models: [models]
  inference-platform:kubeconfig: .workbench/kubeconfig
  inference-platform:clusterName: workbench
  inference-platform:simulatedNodes: true
  inference-platform:customResources: true
"""
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


def printed(arguments: tuple[str, ...], folder: Path = ROOT, **variables: str) -> str:
    """Return what a command prints on a terminal of the picture's width."""
    command = [sys.executable, "-m", "workbench", *arguments]
    env = _environment({"COLUMNS": str(_width(arguments)), **variables})
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=True).stdout


def picture(arguments: tuple[str, ...], text: str) -> str:
    """Return the SVG of a terminal with a command and what it printed."""
    console = Console(record=True, width=_width(arguments), file=io.StringIO(), force_terminal=True)
    console.print(Text(f"$ workbench {' '.join(arguments)}", style="bold"))
    console.print(Text.from_ansi(text.rstrip()))
    title = f"workbench {arguments[0]}"
    return console.export_svg(
        title=title, theme=DIMMED_MONOKAI, code_format=_FORMAT, unique_id=title.replace(" ", "-")
    )


def record_live() -> str:
    """Run a fleet on a simulated cluster, send load, and return what ``watch`` shows after two minutes."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "models").mkdir()
        for model in _MODELS:
            shutil.copy(ROOT / "stacks/models" / f"{model}.yaml", folder / "models")
        for file in ("Pulumi.yaml", "__main__.py"):
            shutil.copy(ROOT / file, folder)
        (folder / "Pulumi.local.yaml").write_text(_SETTINGS, encoding="utf-8")
        try:
            printed(("up", "--engine", "local", "--start-cluster"), folder)
            loads = [_load(folder, model, rate) for model, rate in _LOADS.items()]
            time.sleep(_SECONDS_BEFORE)
            # Rich knows the width of a terminal only; with this variable it takes the output for one.
            watched = printed(WATCH, folder, FORCE_COLOR="1", TERM="xterm")
            for load in loads:
                load.wait()
            return watched
        finally:
            printed(("cluster", "stop"), folder)


def _load(folder: Path, model: str, rate: str) -> "subprocess.Popen[bytes]":
    words = ("load", "--model", model, "--rate", rate, "--duration", f"{_LOAD_SECONDS}s")
    command = [sys.executable, "-m", "workbench", *words]
    return subprocess.Popen(
        command, cwd=folder, env=_environment({}), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    return {**os.environ, "NO_COLOR": "1", "PYTHONPATH": str(ROOT), **variables}


def _width(arguments: tuple[str, ...]) -> int:
    return _WIDTHS.get(arguments[0], _WIDTHS["plan"])


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    if sys.argv[1:] == ["live"]:
        (PICTURES / "live.svg").write_text(picture(WATCH[:1], record_live()), encoding="utf-8")
    else:
        (PICTURES / "plan.svg").write_text(picture(PLAN, printed(PLAN)), encoding="utf-8")
