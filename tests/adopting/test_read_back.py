"""What is rendered and applied is read back as it was declared: the API server's defaults are no part of it."""

import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from components.families import parse
from components.fleet.objects import Object
from components.fleet.options import Options
from components.plan.rendering import render_fleet
from tests.adopting import support
from toolkit.kube import Kube, NoSuchKindError
from workbench.adopting.declared import declared, missing_parts
from workbench.engine.apply.objects import MANAGER

ROOT = Path(__file__).parents[2]
FILES = [*sorted(ROOT.glob("stacks/models/*.yaml")), *sorted(ROOT.glob("components/families/*/samples/*.yaml"))]
KEPT = {
    # It depends on the tag of the image.
    ("Deployment", "spec.template.spec.containers[].imagePullPolicy"),
    ("Deployment", "spec.template.spec.initContainers[].imagePullPolicy"),
    ("Deployment", "spec.replicas"),
    ("LeaderWorkerSet", "spec.replicas"),
    ("LeaderWorkerSet", "spec.rolloutStrategy.rollingUpdateConfiguration.partition"),
    ("LeaderWorkerSet", "spec.leaderWorkerTemplate.leaderTemplate.spec.containers[].ports[].protocol"),
    ("LeaderWorkerSet", "spec.leaderWorkerTemplate.workerTemplate.spec.containers[].ports[].protocol"),
    ("PersistentVolumeClaim", "spec.volumeMode"),
    ("PersistentVolumeClaim", "spec.storageClassName"),  # the default class of the cluster
    ("Service", "spec.externalTrafficPolicy"),
    ("ModelServer", "spec.workloadPort.protocol"),
    ("HorizontalPodAutoscaler", "spec.behavior.scaleUp"),
    ("HorizontalPodAutoscaler", "spec.behavior.scaleDown.selectPolicy"),
    ("HorizontalPodAutoscaler", "spec.behavior.scaleDown.policies"),
}
"""Defaults that are read back as if they were declared. Applying them changes nothing."""
UNSET = {("PriorityClass", "globalDefault")}
"""Fields whose zero value the API server does not store."""
LEAST = 100
"""Objects that the shipped manifests become at least, so that the test does not pass without any."""


def rendered() -> Iterator[Object]:
    for path in FILES:
        documents = [each for each in yaml.safe_load_all(path.read_text()) if each]
        for body in documents:
            body["metadata"]["namespace"] = "default"
        manifests = parse(yaml.safe_dump_all(documents), path.name)
        for item in render_fleet(manifests.resources, Options()).rendered:
            yield from item.objects


def test_rendered_objects_are_read_back_as_they_were_declared(kube: Kube) -> None:
    """A dry run of each object, as there are hundreds: nothing is created."""
    support.install_kinds(kube)
    read, differences = 0, []
    for body in rendered():
        if body["metadata"].get("namespace") not in (None, "default"):
            continue
        try:
            live, _ = kube.server_side_apply(body, manager=MANAGER, dry_run=True)
        except NoSuchKindError:
            continue
        read += 1
        kind, name = body["kind"], body["metadata"]["name"]
        # Values that equal defaults are left out of both.
        before, after = declared(body), declared(live)
        for sides, allowed in (((before, after), UNSET), ((after, before), KEPT)):
            for path, one, other in missing_parts(*sides):
                if (kind, re.sub(r"\[\d+\]", "[]", path)) not in allowed:
                    differences.append(f"{kind}/{name}: {path}: {one!r}, {other!r}")
    assert not differences, "\n".join(differences)
    assert read >= LEAST
