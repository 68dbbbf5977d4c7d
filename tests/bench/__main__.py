"""``make bench``: render, preview and up for fleets of 10, 100 and 1,000 models, against their baselines.

Also plans of two revisions, sizing, and the live fleet under load.

Every figure is the wall time of a whole process, interpreter included. The floors run in the same session on the
same machine: a flat program that registers the same objects without components, settings or checks, and
``kubectl apply --server-side`` of the same objects. The table goes to docs/benchmarks.md.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import yaml

from components.contract.documents.writer import dump_all
from components.families import load
from components.fleet.options import Options
from components.plan.rendering import render_fleet
from workbench.cluster.binaries import find
from workbench.cluster.cluster import SimulatedCluster

from . import live, planning, startup, variants
from .fleets import booster, write_fleet
from .measure import Contestant, medians

ROOT = Path(__file__).parents[2]
REPORT = ROOT / "docs" / "benchmarks.md"
SIZES = {10: 3, 100: 3, 1000: 1}
"""Models of the fleet, and how often each figure is taken."""
FAMILY_MODELS, FAMILY_RUNS = 1000, 3
_COMPARED = """\
Each Playground comes with its OpenModel. A ModelBooster is expanded into a ModelServing, a ModelServer and a
ModelRoute, which are checked and rendered like declared ones. The goal is 1.3."""
WORKBENCH = [sys.executable, "-m", "workbench"]
NAMESPACE = "bench"


class Site:
    """The folders of one fleet: our project, the flat project, and the rendered objects."""

    def __init__(self, folder: Path, models: int, kubeconfig: Path) -> None:
        self.models = models
        self.kubeconfig = kubeconfig
        self.manifests = write_fleet(folder / "models", models)
        fleet = render_fleet(load([self.manifests]).resources, Options(namespace=NAMESPACE))
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
        self.objects = [namespace, *(value for item in fleet.rendered for value in item.objects)]
        self.rendered = folder / "rendered.yaml"
        self.rendered.write_text(dump_all(self.objects))
        self.ours = self._ours(folder / "ours")
        self.flat = self._flat(folder / "flat", "sdk")
        self.thin = self._flat(folder / "thin", "thin")

    def _ours(self, folder: Path) -> Path:
        folder.mkdir()
        shutil.copy(ROOT / "Pulumi.yaml", folder)
        shutil.copy(ROOT / "__main__.py", folder)
        config = {
            "inference-platform:kubeconfig": str(self.kubeconfig),
            "inference-platform:models": [str(self.manifests)],
            "inference-platform:namespace": NAMESPACE,
        }
        (folder / "Pulumi.bench.yaml").write_text(yaml.safe_dump({"config": config}))
        return folder

    def _flat(self, folder: Path, classes: str) -> Path:
        folder.mkdir()
        (folder / "Pulumi.yaml").write_text("name: flat\nruntime: python\n")
        shutil.copy(Path(__file__).with_name("flat_program.py"), folder / "__main__.py")
        (folder / "objects.json").write_text(json.dumps(self.objects))
        objects = str(folder / "objects.json")
        config = {"flat:kubeconfig": str(self.kubeconfig), "flat:objects": objects, "flat:classes": classes}
        (folder / "Pulumi.bench.yaml").write_text(yaml.safe_dump({"config": config}))
        return folder

    def stack(self, verb: str, project: Path, *flags: str) -> list[str]:
        """Return the command line of a stack operation with the local engine."""
        return [*WORKBENCH, verb, "--stack", "bench", "--engine", "local", "--cwd", str(project), *flags]

    def clear(self) -> None:
        """Remove whatever the last contestant left, so that each starts from nothing."""
        kubectl = ["kubectl", "--kubeconfig", str(self.kubeconfig)]
        gone = [*kubectl, "delete", "namespace", NAMESPACE, "--ignore-not-found", "--wait", "--timeout=600s"]
        subprocess.run(gone, check=True, capture_output=True)
        for project in (self.ours, self.flat, self.thin):
            shutil.rmtree(project / ".workbench", ignore_errors=True)


def measure(site: Site, runs: int) -> dict[str, float]:
    """Return seconds by contestant."""
    apply = ["kubectl", "--kubeconfig", str(site.kubeconfig), "apply", "--server-side", "-f", str(site.rendered)]
    plain = [
        Contestant("render", [*WORKBENCH, "render", str(site.manifests)], ROOT),
        Contestant("preview", site.stack("preview", site.ours), ROOT, site.clear),
        Contestant("preview, flat", site.stack("preview", site.flat), ROOT, site.clear),
        Contestant("preview, thin", site.stack("preview", site.thin), ROOT, site.clear),
        Contestant("up", site.stack("up", site.ours, "--yes", "--no-wait"), ROOT, site.clear),
        Contestant("up, flat", site.stack("up", site.flat, "--yes", "--no-wait"), ROOT, site.clear),
        Contestant("kubectl apply", apply, ROOT, site.clear),
    ]
    return medians(plain, runs, {"PYTHONPATH": str(ROOT)})


def families(folder: Path) -> str:
    """Return the table of models that say the same in two families: validate and render of 1,000 each."""
    places = {
        "Playground": write_fleet(folder / "playgrounds", FAMILY_MODELS),
        "ModelBooster": write_fleet(folder / "boosters", FAMILY_MODELS, booster),
    }
    commands = [(verb, kind) for verb in ("validate", "render") for kind in places]
    plain = [Contestant(f"{verb} {kind}", [*WORKBENCH, verb, str(places[kind])], ROOT) for verb, kind in commands]
    taken = medians(plain, FAMILY_RUNS, {"PYTHONPATH": str(ROOT)})
    rows = [
        f"| {verb} | {taken[f'{verb} Playground']:.2f} | {taken[f'{verb} ModelBooster']:.2f} "
        f"| {taken[f'{verb} ModelBooster'] / taken[f'{verb} Playground']:.2f} |"
        for verb in ("validate", "render")
    ]
    head = f"| {FAMILY_MODELS:,} models | Playgrounds | ModelBoosters | ratio |"
    return "\n".join([head, "|---|--:|--:|--:|", *rows, "", _COMPARED])


def sizing() -> str:
    """Return the table of variants that are sized, in a process of their own."""
    command = [sys.executable, "-m", "tests.bench.variants"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return variants.table(json.loads(done.stdout))


def row(site: Site, runs: int, taken: dict[str, float]) -> str:
    """Return a row of the table."""
    cells = [
        f"{site.models:,}",
        f"{len(site.objects):,}",
        str(runs),
        *(f"{taken[name]:.2f}" for name in ("render", "preview", "preview, flat", "preview, thin")),
        f"{taken['preview'] / taken['preview, flat']:.2f}",
        f"{taken['preview'] / taken['preview, thin']:.2f}",
        *(f"{taken[name]:.2f}" for name in ("up", "up, flat", "kubectl apply")),
        f"{taken['up'] / taken['kubectl apply']:.2f}",
    ]
    return f"| {' | '.join(cells)} |"


def report(rows: Iterable[str], *tables: str) -> str:
    """Return the page."""
    head = (
        "| models | objects | runs | render | preview | flat | thin | preview / flat | preview / thin "
        "| up | up, flat | kubectl apply | up / kubectl |"
    )
    rule = "|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    python = platform.python_version()
    return "\n".join(
        [
            "# Benchmarks",
            "",
            f"Written by `make bench` on {datetime.now(UTC):%Y-%m-%d}: {os.cpu_count()} CPUs, "
            f"{platform.system()} {platform.machine()}, Python {python}. Median seconds of whole processes, "
            "including interpreter startup. Compare the ratios, which come from the same run.",
            "",
            head,
            rule,
            *rows,
            "",
            "- **render**: `python -m workbench render`, including validation; YAML of every object on stdout.",
            "- **preview**, **up**: the program of this repository under the local engine, against a real control",
            "  plane that has none of the objects yet. `up` does not wait for pods; neither does kubectl.",
            "- **flat**: the baseline for both: a program that registers the same objects one after the other with",
            "  the classes of pulumi_kubernetes, without components, settings or checks, under the same engine.",
            "- **thin**: the same flat program with the resource class that our components use.",
            "- **kubectl apply**: `kubectl apply --server-side` of the rendered objects.",
            "- Every model has `replicas: 0`, so that neither side competes with the creation of pods; figures with",
            "  pods differ.",
            "- The goal is a preview of at most 1.2 x the flat program; the columns show for which fleets it is met.",
            "- There is only one run with 1,000 models, so its spread is unknown.",
            "",
            "\n\n".join(tables),
            "",
            "With a handful of models, starting the interpreter and the Pulumi SDK (about half a second) accounts",
            "for most of every figure except render's.",
            "",
        ]
    )


def main() -> None:
    """Measure and write the report."""
    with tempfile.TemporaryDirectory() as scratch:
        cluster = SimulatedCluster(Path(scratch) / "state")
        try:
            running = cluster.start(find)
            rows = []
            for models, runs in SIZES.items():
                site = Site(Path(scratch) / str(models), models, running.kubeconfig)
                rows.append(row(site, runs, measure(site, runs)))
                print(rows[-1], flush=True)  # noqa: T201
                site.clear()
        finally:
            cluster.stop()
        compared = families(Path(scratch))
    REPORT.write_text(report(rows, startup.table(), compared, planning.table(), sizing(), live.table()))


if __name__ == "__main__":
    main()
