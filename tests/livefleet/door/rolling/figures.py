"""Replacing the proxies of a gateway behind a Network Load Balancer while clients stream, in figures.

Real are Envoy, what Envoy Gateway's own code makes of the rendered objects, and the connections. The load balancer,
its controller, the Deployment controller and the shutdown manager are stand-ins (``balancer.py``, ``proxies.py``)
that read the rendered objects. All times are divided by 30; those in the figures are multiplied again. Run as a
program, this prints the table of docs/prerequisites.md:

    python -m tests.livefleet.door.rolling.figures
"""

import sys
import tempfile
from contextlib import ExitStack
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

from components import families
from components.checks.front_door.settings import ENVOY_NAMESPACE
from components.clouds.aws.environment import AwsEnvironment
from components.plan.environment import Environment
from components.plan.namespaces import gate_labels
from components.plan.plan import plan
from livefleet.door.ai.config import processor_config, written
from livefleet.door.programs import DoorPrograms, door_programs
from livefleet.door.xds.configurator import DoorBackends
from tests.livefleet.door.requests.doors import Object, services_of
from tests.livefleet.door.requests.engines import engines_of
from tests.livefleet.door.requests.planned import DOOR, KEYS, SECRET, models
from tests.livefleet.door.rolling.balancer import FASTER, NLB, balancer_of
from tests.livefleet.door.rolling.load import Load, loading
from tests.livefleet.door.rolling.proxies import Proxies, ended, faster, seconds
from tests.livefleet.door.running import HOST, free_port, listens
from tests.monitoring.programs.daemon import eventually, running

GATE = {"elbv2.k8s.aws/pod-readiness-gate-inject": "enabled"}
LONGEST = 300 / FASTER
"""Seconds of the longest stream: half of what a request may take, so that a slow machine cuts none off."""
CLIENTS = 24


@dataclass(frozen=True, slots=True)
class Rendered:
    """What is rendered for a gateway on AWS: its objects, and whether its pods are gated."""

    objects: list[Object]
    gated: bool

    @property
    def annotations(self) -> dict[str, str]:
        found: dict[str, str] = self.proxies["provider"]["kubernetes"]["envoyService"]["annotations"]
        return found

    @property
    def proxies(self) -> Object:
        (found,) = [each["spec"] for each in self.objects if each["kind"] == "EnvoyProxy"]
        return dict(found)


def after() -> Rendered:
    """What is rendered now."""
    aws = AwsEnvironment("us-east-1", cidr="10.0.0.0/16")
    found = plan(families.objects(models("m")), Environment(door=DOOR, cloud=aws))
    assert not [each for each in found.problems if each.severity == "error"], list(map(str, found.problems))
    return Rendered(list(found.door.objects), gate_labels(found, ENVOY_NAMESPACE) == GATE)


def before() -> Rendered:
    """What was rendered before drains, gates and idle timeouts were set."""
    objects = deepcopy(after().objects)
    for each in objects:
        spec = each.get("spec", {})
        if each["kind"] == "EnvoyProxy":
            del spec["shutdown"]
            kubernetes = spec["provider"]["kubernetes"]
            kubernetes["envoyDeployment"] = {"replicas": kubernetes["envoyDeployment"]["replicas"]}
            kept = ("type", "nlb-target-type", "scheme")
            found = kubernetes["envoyService"]["annotations"]
            kubernetes["envoyService"]["annotations"] = {f"{NLB}-{key}": found[f"{NLB}-{key}"] for key in kept} | {
                f"{NLB}-target-group-attributes": "preserve_client_ip.enabled=false,proxy_protocol_v2.enabled=true"
            }
        if each["kind"] == "ClientTrafficPolicy":
            del spec["timeout"]["http"]["idleTimeout"]
    return Rendered(objects, gated=False)


@dataclass(frozen=True, slots=True)
class Figures:
    """What clients saw of a rolling update, in the seconds of reality.

    Attributes:
        requests: How many streams were asked for; who is refused tries again.
        cut: Streams that ended in the middle, though they took less time than a request may.
        refused: Requests that got no answer.
        without: Seconds in which the load balancer had no healthy target.
        took: Seconds until the last of the old proxies had ended.
    """

    requests: int
    cut: int
    refused: int
    without: int
    took: int


def rolled(rendered: Rendered, programs: DoorPrograms, folder: Path) -> Figures:
    """Replace two proxies under load."""
    (policy,) = [each for each in rendered.objects if each["kind"] == "ClientTrafficPolicy"]
    longest = seconds(policy["spec"]["timeout"]["http"]["streamIdleTimeout"]) / FASTER
    (gateway,) = [each for each in rendered.objects if each["kind"] == "Gateway"]
    services, processor = services_of(rendered.objects), (HOST, free_port())
    config = folder / "config.json"
    config.write_bytes(written(processor_config(rendered.objects)))
    command = [sys.executable, "-m", "livefleet.door.ai", str(config), str(processor[1])]
    with ExitStack() as stack:
        engines = stack.enter_context(engines_of(each.host for each in services))
        behind = DoorBackends(stand_ins={each: (HOST, engines.ports[each.host]) for each in services})
        stack.enter_context(running(command, folder / "processor.log", lambda: listens(processor[1])))
        listener = gateway["spec"]["listeners"][0]["port"]
        balancer = stack.enter_context(balancer_of(rendered.annotations, listener))
        objects = faster(rendered.objects)
        proxies = stack.enter_context(
            ended(Proxies(objects, [SECRET], behind, programs, folder, processor, balancer, rendered.gated))
        )
        old, new = proxies.prepare(1), proxies.prepare(2)
        proxies.run(old)
        headers = {"authorization": f"Bearer {KEYS['alice']}"}
        load = Load(f"http://{HOST}:{balancer.port}", headers, LONGEST, CLIENTS)
        with loading(load):
            eventually(lambda: engines.running >= CLIENTS * 3 // 4, "streams are under way", seconds=60)
            proxies.roll(new)
            for each in old:
                each.await_end()
            eventually(
                lambda: all(each.target and each.target.healthy for each in new), "targets are healthy", seconds=120
            )
    found = load.answers
    assert {each.end for each in found} <= {"whole", "cut", "refused"}, sorted({each.end for each in found})
    last = max(each.gone for each in old if each.gone)
    first = min(each.ended for each in old if each.ended)
    return Figures(
        requests=len(found),
        cut=sum(each.end == "cut" and each.took < longest * 0.95 for each in found),
        refused=sum(each.end == "refused" for each in found),
        without=round(balancer.without * FASTER),
        took=round((last - first) * FASTER),
    )


def without(left_out: str) -> Rendered:
    """What is rendered now, but for the ``gates`` or the ``drain``."""
    objects = deepcopy(after().objects)
    for each in objects:
        if left_out == "drain" and each["kind"] == "EnvoyProxy":
            del each["spec"]["shutdown"]
    return Rendered(objects, gated=left_out != "gates")


def main() -> None:
    """Print the figures as a table."""
    rows = {
        "before": before(),
        "the drain alone": without("gates"),
        "readiness gates alone": without("drain"),
        "both": after(),
    }
    lines = ["| | requests | cut off | refused | seconds without a healthy target | last old proxy ended after |"]
    lines.append("|---|---:|---:|---:|---:|---:|")
    for name, rendered in rows.items():
        with tempfile.TemporaryDirectory() as folder:
            found = rolled(rendered, door_programs(), Path(folder))
        figures = (found.requests, found.cut, found.refused, found.without, f"{found.took} s")
        lines.append(f"| {name} | {' | '.join(map(str, figures))} |")
    print("\n".join(lines))  # noqa: T201 - a program


if __name__ == "__main__":
    main()
