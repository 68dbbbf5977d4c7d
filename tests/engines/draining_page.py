"""The hooks of docs/draining.md; ``python -m tests.engines.draining_page`` writes them."""

from pathlib import Path

import yaml

from components.engines.draining import drain_hook
from components.engines.registry import engines
from components.fleet.options import Options

PAGE = Path(__file__).parents[2] / "docs/draining.md"
MARK = "<!-- The sections below are written by `python -m tests.engines.draining_page`. -->\n"


def _as_block(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


class _Dumper(yaml.SafeDumper):
    """Writes scripts as blocks."""


_Dumper.add_representer(str, _as_block)


def hooks() -> str:
    """Return the section of every engine with a port of its own."""
    parts = [MARK]
    for engine in engines().values():
        if engine.port is None or not engine.images:
            continue
        grace = Options().grace_seconds
        spec = {"lifecycle": drain_hook(engine.name, engine.port, grace)}
        text = yaml.dump(spec, Dumper=_Dumper, sort_keys=False, width=200)
        parts.append(f"\n### {engine.name}\n\nFor port {engine.port} and a grace period of {grace} seconds.\n\n")
        parts.append(f"```yaml\n{text}```\n")
    return "".join(parts)


def page() -> str:
    """Return the page with current hooks."""
    return PAGE.read_text(encoding="utf-8").partition(MARK)[0] + hooks()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
