"""The stacks of a project whose manifests are converted together."""

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from components.checks.metrics.chain import MetricSettings
from components.checks.metrics.words import Adapter
from components.contract.documents.files import manifest_files, read_text
from components.contract.problems import Problem
from components.families.migration import MigratedDocument, PlannedScaling, StackFacts
from components.fleet.cloud_providers import default_provider
from components.fleet.prices import Buying
from components.plan.costs.price_file import read_prices
from components.plan.costs.prices import OwnPrices

from ..engine.project import Project, load_project
from ..errors import WorkbenchError
from ..subject import Subject, planned
from .conversion import text_of
from .files import with_setting

_MODELS, _RELEASES = "models", "releases"


def _planned(subject: Subject) -> dict[tuple[str, str, str], PlannedScaling]:
    """Return what a stack plans for each resource that scales a workload, by kind, namespace and name as written."""
    _, plan = planned(subject, None)
    workloads = {(each.kind, each.namespace, each.name): each.body for _, each in plan.fleet.workloads}
    return {
        (item.source.kind.kind, item.source.resource.metadata.namespace or "", item.source.name): PlannedScaling(
            least=scaler.minimum, most=scaler.maximum, workload=workloads.get(scaler.target)
        )
        for item in plan.fleet.rendered
        for scaler in item.autoscalers
    }


class MigratedProject(StackFacts):
    """A project folder with the stacks to convert.

    Args:
        folder: The folder of Pulumi.yaml.
        stack: The only stack to convert; empty for all. Stacks may share manifests, so all are the default.
    """

    def __init__(self, folder: Path, stack: str = "") -> None:
        names = sorted(path.name[len("Pulumi.") : -5] for path in folder.glob("Pulumi.*.yaml"))
        if not (stack or names):
            raise WorkbenchError(f"{folder}: has no stacks (Pulumi.<stack>.yaml); pass manifests, or --cwd", 2)
        self._folder = folder
        self._stacks = [load_project(folder, name, sealed=True) for name in ([stack] if stack else names)]
        self._others = [name for name in names if stack and name != stack]

    @cached_property
    def models(self) -> list[Path]:
        """The manifest files and folders of the stacks."""
        return list(dict.fromkeys(path for project in self._stacks for path in self._models(project)))

    def _models(self, project: Project) -> list[Path]:
        return [self._folder / path for path in json.loads(project.config.get(project.key(_MODELS), "[]"))]

    def readers(self, releases: Mapping[str, str]) -> dict[Path, list[str]]:
        """Return the stacks outside the conversion that read a file in another release, by its resolved path.

        Args:
            releases: The release to convert to, by family; empty for a conversion to another family.
        """
        readers_of: dict[Path, list[str]] = {}
        for name in self._others:
            project = load_project(self._folder, name, sealed=True)
            own = json.loads(project.config.get(project.key(_RELEASES), "{}"))
            if releases and all(own.get(family) == release for family, release in releases.items()):
                continue
            read = ", ".join(f"{family} {own.get(family, 'in its default release')}" for family in releases)
            for file in manifest_files(self._models(project), []):  # problems of other stacks are not in question
                readers_of.setdefault(file.resolve(), []).append(f"{name} ({read})" if read else name)
        return readers_of

    def release(self, family: str) -> str:
        """Return the release of a family that the stacks set; empty if none does.

        Raises:
            WorkbenchError: the stacks set different ones.
        """
        by_stack = {
            project.stack: json.loads(project.config.get(project.key(_RELEASES), "{}")) for project in self._stacks
        }
        names = dict.fromkeys(setting[family] for setting in by_stack.values() if family in setting)
        if len(names) > 1:
            raise WorkbenchError(
                f"the stacks set different releases of {family}: {', '.join(names)}; pass --stack, or --from for all",
                2,
            )
        return next(iter(names), "")

    def price(self, instance_type: str) -> float | None:
        """Return the price of an instance type on demand in the stacks' price file, in USD an hour; None without one.

        Raises:
            WorkbenchError: the stacks have different files or regions, or the file is invalid.
        """
        prices, region = self._prices
        quote = prices.instances.get((region, instance_type, Buying.ON_DEMAND))
        return float(quote.usd) if quote else None

    @cached_property
    def _prices(self) -> tuple[OwnPrices, str]:
        usual = default_provider().prices.region
        sources = {
            (project.config.get(f"{project.name}:prices", ""), project.config.get(f"{project.name}:region", usual))
            for project in self._stacks
        }
        if len(sources) > 1 and any(file for file, _ in sources):
            raise WorkbenchError("the stacks set different price files or regions; pass --stack", 2)
        file, region = next(iter(sources))
        if not file:
            return OwnPrices(), region
        problems: list[Problem] = []
        text = read_text((self._folder / file).read_bytes, file, problems)
        prices, invalid = read_prices(text, file) if text is not None else (OwnPrices(), ())
        if problems or invalid:
            raise WorkbenchError("\n".join(map(str, (*problems, *invalid))))
        return prices, region

    @property
    def prometheus(self) -> str:  # type: ignore[override]
        """URL of Prometheus of the first stack."""
        return self._metrics[0].prometheus

    @property
    def uses_keda(self) -> bool:  # type: ignore[override]
        """Whether all stacks serve metrics with KEDA."""
        return all(each.adapter is Adapter.KEDA for each in self._metrics)

    @cached_property
    def _metrics(self) -> list[MetricSettings]:
        subjects = [Subject(project.stack, self._folder) for project in self._stacks if project.has_settings]
        found = [subject.environment(subject.settings()).metrics for subject in subjects]
        return found or [MetricSettings()]

    def scaling(self, document: MigratedDocument) -> PlannedScaling | None:
        """Return what the stacks plan for a resource that scales a workload; the widest bounds of all of them."""
        key = document.kind, document.namespace, document.name
        found = [plans[key] for plans in self._scalings if key in plans]
        if not found:
            return None
        return PlannedScaling(
            least=min(each.least for each in found),
            most=max(each.most for each in found),
            workload=next((each.workload for each in found if each.workload), None),
        )

    @cached_property
    def _scalings(self) -> list[dict[tuple[str, str, str], PlannedScaling]]:
        return [_planned(Subject(project.stack, self._folder)) for project in self._stacks if project.has_settings]

    def with_releases(self, releases: dict[str, str]) -> dict[Path, str]:
        """Return the texts of the stack files with the setting ``releases`` changed."""
        texts = {}
        for project in self._stacks:
            path = self._folder / f"Pulumi.{project.stack}.yaml"
            texts[path] = with_setting(path, text_of(path), project.key(_RELEASES), releases)
        return texts
