"""Rendering the pinned charts with the real helm, where it and a copy of the chart are at hand.

``INFERENCE_PLATFORM_CHARTS`` names a folder with one sub-folder or archive per chart: under our name for it, such as
``prometheus``, or under the name that ``helm pull`` writes, such as ``kube-prometheus-stack-88.5.3.tgz``.
``INFERENCE_PLATFORM_HELM`` names helm where it is not on PATH. Not helm 3.18.0, which takes a value of 0 for true
(helm/helm issue 30923).
"""

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from components.clouds.aws.facts.eks import versions
from components.plan.prerequisites.charts import Chart, charts

FOLDER = "INFERENCE_PLATFORM_CHARTS"
HELM = "INFERENCE_PLATFORM_HELM"
_SECONDS = 120

Object = dict[str, Any]


class _Loader(yaml.CSafeLoader):
    """Reads what Kubernetes reads: a lone ``=``, as regular expressions have it in schemas, is a string."""


_Loader.add_constructor("tag:yaml.org,2002:value", lambda _, node: str(node.value))


class NotAtHandError(Exception):
    """Helm or a chart is not on this machine; the message says which."""


class RefusedError(Exception):
    """Helm refused chart and values; the message is helm's."""


@dataclass(frozen=True)
class Rendered:
    """The objects that a chart becomes, with its kinds."""

    objects: tuple[Object, ...]

    def of(self, kind: str) -> list[Object]:
        return [body for body in self.objects if body["kind"] == kind]

    def one(self, kind: str, name: str) -> Object:
        found = [body for body in self.of(kind) if body["metadata"]["name"] == name]
        assert len(found) == 1, f"{kind} {name}: {[body['metadata']['name'] for body in self.of(kind)]}"
        return found[0]

    def daemon_pods(self) -> dict[str, Object]:
        """The pod specs of the DaemonSets, by name."""
        return {body["metadata"]["name"]: body["spec"]["template"]["spec"] for body in self.of("DaemonSet")}

    def container(self, deployment: str) -> Object:
        """The first container of a Deployment."""
        found: Object = self.one("Deployment", deployment)["spec"]["template"]["spec"]["containers"][0]
        return found


@dataclass(frozen=True)
class Helm:
    """The program and one chart's copy."""

    program: str
    chart: Chart
    copy: Path

    def show(self, what: str) -> Object:
        """The chart's own file: ``chart`` or ``values``."""
        found: Object = yaml.load(self._run("show", what, str(self.copy)), _Loader) or {}
        return found

    def render(self, values: Mapping[str, Any], kubernetes: str = "") -> Rendered:
        """What the API server would be sent for a new release, as the chart's pin says.

        Args:
            values: Ours.
            kubernetes: Version such as ``1.35``; the newest that is known where none is given.

        Raises:
            RefusedError: helm does not take chart and values.
        """
        text = self._run(
            "template", self.chart.release, str(self.copy), "--namespace", self.chart.namespace, "--include-crds",
            "--kube-version", f"{kubernetes or newest_kubernetes()}.0", "--values", "-",
            given=yaml.safe_dump(dict(values)),
        )  # fmt: skip
        documents = [document for document in yaml.load_all(text, _Loader) if document]
        return Rendered(tuple(_flat(documents)))

    def _run(self, *arguments: str, given: str = "") -> str:
        done = subprocess.run(
            [self.program, *arguments], input=given, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
        if done.returncode:
            raise RefusedError(done.stderr.strip())
        return done.stdout


def helm_for(name: str, environ: Mapping[str, str] = os.environ) -> Helm:
    """Helm with the copy of a chart.

    Raises:
        NotAtHandError: there is no helm, no folder of charts, or no such chart in it.
    """
    folder_of(environ)
    program = environ.get(HELM) or shutil.which("helm", path=environ.get("PATH"))
    if not program:
        raise NotAtHandError(f"there is no helm on PATH, and {HELM} names none")
    return Helm(program, charts()[name], copy_of(name, environ))


def folder_of(environ: Mapping[str, str]) -> Path:
    """The folder with the copies of the charts.

    Raises:
        NotAtHandError: none is named.
    """
    if not (folder := environ.get(FOLDER)):
        raise NotAtHandError(f"{FOLDER} names no folder with copies of charts")
    return Path(folder)


def copy_of(name: str, environ: Mapping[str, str] = os.environ) -> Path:
    """The copy of a chart, a folder or an archive.

    Raises:
        NotAtHandError: there is no folder of charts, or no such chart in it.
    """
    folder = folder_of(environ)
    pin = charts()[name]
    for copy in _copies(pin):
        if (folder / copy).exists():
            return folder / copy
    raise NotAtHandError(f"there is no copy of {name} in {folder}: neither {' nor '.join(_copies(pin))}")


def _copies(pin: Chart) -> tuple[str, ...]:
    its_own = pin.chart.rpartition("/")[2]
    return pin.name, f"{pin.name}.tgz", its_own, f"{its_own}.tgz", f"{its_own}-{pin.version}.tgz"


def newest_kubernetes() -> str:
    return max(versions(), key=numbers)


def oldest_kubernetes() -> str:
    return min(versions(), key=numbers)


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _flat(documents: Iterable[Object]) -> Iterator[Object]:
    """Take lists apart."""
    for document in documents:
        if document["kind"].endswith("List") and "items" in document:
            yield from _flat(document["items"])
        else:
            yield document


def settled(rendered: Rendered) -> list[Object]:
    """The objects without what helm makes up anew each time: certificates, passwords and sums of these."""
    return [_settled(body) for body in rendered.objects if body["kind"] != "Secret"]


def _settled(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _settled(item) for key, item in value.items() if not _made_up(key)}
    if isinstance(value, list):
        return [_settled(item) for item in value]
    return value


def _made_up(key: str) -> bool:
    return key == "caBundle" or key.startswith(("checksum/", "checksum."))
