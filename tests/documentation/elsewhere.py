"""Blocks that walkthroughs do not run, with the tests that do or the reason why none can.

A new command that walkthroughs cannot run, and a new listing, fails a test until it has an entry here. So does an
entry that no block needs any more.
"""

import re
from typing import NamedTuple

from tests.documentation.blocks import Block


class Elsewhere(NamedTuple):
    """Commands that are not run by walkthroughs.

    Attributes:
        pages: Regular expression of the pages.
        commands: Regular expression of the whole command.
        tests: What runs them instead; empty if nothing does.
        reason: Why walkthroughs do not.
    """

    pages: str
    commands: str
    tests: tuple[str, ...]
    reason: str


_ANY = r".*"
COMMANDS = (
    Elsewhere(
        _ANY,
        r"pulumi .*",
        ("tests/documentation/test_commands.py",),
        "needs the Pulumi CLI, which tests cannot install, and mostly an account; the command line is checked",
    ),
    Elsewhere(
        _ANY,
        r"aws .*",
        ("tests/documentation/test_commands.py",),
        "needs an account; the operation and its options are checked",
    ),
    Elsewhere(
        "docs/costs.md",
        r"(pip|python) .*",
        ("tests/clouds/aws/test_refresh_instances.py",),
        "downloads the newest copies of the sources; the tool is run on small ones",
    ),
    Elsewhere(
        _ANY,
        r"(kubectl|export) .*",
        ("tests/documentation/test_commands.py",),
        "needs kubectl and a cluster of one's own; files that it names are checked",
    ),
    Elsewhere(
        _ANY,
        r"curl http.*",
        ("tests/documentation/test_commands.py",),
        "needs a deployed model; the request is checked",
    ),
    Elsewhere(
        "docs/start/five-minutes.md",
        r"curl .*|workbench (up|preview|destroy|cluster) ?.*",
        ("tests/installed/test_start.py",),
        "needs the simulated cluster, and the order of the page",
    ),
    Elsewhere(
        "README.md|docs/index.md",
        r"(git|cd|make) .*",
        ("tests/documentation/test_first_block.py",),
        "needs the simulated cluster, and a clone",
    ),
    Elsewhere(
        "README.md",
        r"workbench (validate|up) .*",
        ("tests/documentation/test_commands.py", "tests/installed/test_start.py"),
        "needs an edit that the text describes; needs the simulated cluster",
    ),
    Elsewhere(
        "docs/start/five-minutes.md|docs/live.md|docs/load.md|docs/tasks/autoscaling.md",
        r"make (up|preview|destroy|down)",
        ("tests/documentation/test_first_block.py", "tests/livefleet/test_up.py"),
        "needs the simulated cluster",
    ),
    Elsewhere(
        "docs/start/eks.md",
        r"make acceptance-aws",
        ("tests/acceptance/aws",),
        "needs an account; its steps run against a stand-in",
    ),
    Elsewhere(
        _ANY,
        r"(pipx|uv) .*|workbench --version",
        ("tests/installed/test_installation.py",),
        "installs packages, which `make test-versions` may",
    ),
    Elsewhere(
        _ANY,
        r"workbench (live )?(load|watch|fault) ?.*",
        ("tests/livefleet/load", "tests/livefleet/test_faults.py"),
        "needs a fleet under load for minutes",
    ),
    Elsewhere(
        "docs/aws.md", r"workbench (dev )?capacity .*", ("tests/commands/test_capacity.py",), "needs a cluster"
    ),
    Elsewhere(
        "docs/diff.md",
        r"workbench (diff|up) .*",
        ("tests/drifting", "tests/adopting/test_taking_over.py"),
        "needs a cluster that others have changed",
    ),
    Elsewhere("docs/costs.md", r"workbench outputs .*", ("tests/engine/test_commands.py",), "needs a deployed stack"),
    Elsewhere(
        "docs/inspect.md",
        r"workbench inspect .*",
        ("tests/documentation/test_inspecting.py", "tests/commands/test_inspect.py"),
        "needs a cluster; the example of a file is compared there",
    ),
    Elsewhere(
        "docs/tasks/adopt(-aws)?.md",
        r"workbench (adopt|eject|preview|up|plan) .*",
        ("tests/adopting",),
        "needs a cluster or account with models to adopt",
    ),
    Elsewhere(
        "docs/fit.md",
        r"workbench fit (gpt|llama|finetuned).*|workbench validate .*",
        ("tests/documentation/test_fit.py", "tests/commands/test_local_models.py"),
        "compared there, line by line; local models need weights",
    ),
    Elsewhere(
        "docs/fit-profile.md",
        r"workbench (dev )?fit-profile .*",
        ("tests/documentation/test_fitting.py",),
        "compared there, line by line",
    ),
    Elsewhere(
        "docs/simulate.md",
        r"workbench simulate .*",
        ("tests/documentation/test_simulation.py",),
        "compared there, line by line",
    ),
    Elsewhere(
        "docs/sizing.md",
        r"workbench size --(model granite|variant).*",
        ("tests/documentation/test_sizing.py",),
        "compared there, line by line",
    ),
    Elsewhere(
        "docs/memory.md",
        r"workbench validate .*",
        ("tests/documentation/test_memory.py",),
        "compared there, with and without the last lines of the manifest",
    ),
    Elsewhere(
        "docs/findings.md", r"workbench validate .*", ("tests/documentation/test_findings.py",), "compared there"
    ),
)
LISTINGS = {
    "docs/architecture.md": "a drawing; tests/layers has the order of folders",
    "docs/aws.md": "a drawing",
    "docs/costs.md": "the header of a price file; tests/plan/costs reads such files",
    "docs/families.md": "a list of files",
    "docs/fit-profile.md": "tests/documentation/test_fitting.py reads the measurements; benchmarks need a GPU",
    "docs/inspect.md": "a part of a report; tests/inspecting has its texts",
    "docs/installation-configuration.md": "tests/registry/test_binding.py; installs packages",
    "docs/llmd.md": "tests/documentation/test_llmd.py",
    "docs/prerequisites.md": "a part of the outputs; tests/stacks/test_needs.py has them",
    "docs/pull-requests.md": "tests/workflows/test_documented.py; the image is built in CI, because it needs podman",
    "docs/releases.md": "parts of reports; tests/families and tests/plan/review have their texts",
    "docs/releasing.md": "an entry for Pulumi's registry, which is not ours",
    "docs/simulate.md": "tests/documentation/test_simulation.py reads the traces",
}
"""Pages with blocks that have no language, and what looks at these blocks."""


def elsewhere(block: Block, command: str) -> Elsewhere | None:
    """Return why walkthroughs do not run a command."""
    for entry in COMMANDS:
        if re.fullmatch(entry.pages, block.page) and re.fullmatch(entry.commands, command):
            return entry
    return None
