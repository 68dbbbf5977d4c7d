"""What a start shows: one changing line on a terminal, each step once in a log."""

import io
import re

from rich.console import Console

from workbench.cluster.commands import shown_progress

STEPS = [
    "etcd 3.6.8: /usr/bin/etcd",
    "building kwok, etcd",
    "building kwok, etcd: 1 of 90 packages, k8s.io/api",
    "building kwok, etcd: 9 of 90 packages, k8s.io/client-go",
    "control plane: 9 of 90 packages, about 8 min left",
    "starting [etcd]",
]


def shown(*, terminal: bool) -> str:
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=120, highlight=False, color_system=None)
    with shown_progress(console) as progress:
        for step in STEPS:
            progress(step)
    return out.getvalue()


def test_a_log_gets_each_step_once() -> None:
    assert shown(terminal=False).splitlines() == [
        "etcd 3.6.8: /usr/bin/etcd",
        "building kwok, etcd",
        "control plane: 9 of 90 packages, about 8 min left",
        "starting [etcd]",
    ]


def test_a_terminal_gets_the_time_and_nothing_stays() -> None:
    text = shown(terminal=True)
    assert "starting [etcd]" in text
    assert re.search(r"\d:\d\d:\d\d", text)
    assert text.endswith("\x1b[2K")  # the line is erased at the end
