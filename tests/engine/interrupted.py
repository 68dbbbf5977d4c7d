"""A process that deploys, to be killed: ``python interrupted.py FOLDER KUBECONFIG NAMESPACE VERSION``.

The version ``0`` is none: the process destroys.
"""

import sys
from pathlib import Path

import pulumi

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.engine.support import Stack, config_map, kube_object, register

VERSIONS = {
    "0": {},
    "1": {f"c{number:02}": "a" for number in range(40)},
    "2": {f"c{number:02}": "b" if number < 30 else "a" for number in range(20, 60)},
    "3": {f"c{number:02}": "b" for number in range(20, 50)},
}
"""Objects and the namespace they are in. From one version to the next some stay with new content, some move to a
namespace that comes or from one that goes, some are new and some are no longer there."""
WITH_DEPLOYMENT = {"1": "a", "2": "a", "3": "b"}


def place(namespace: str, suffix: str) -> str:
    return f"{namespace}-{suffix}"


def program(stack: Stack, namespace: str, version: str) -> None:
    provider = stack.provider()
    used = sorted({*VERSIONS[version].values(), WITH_DEPLOYMENT[version]})
    spaces = {
        suffix: register(
            kube_object("v1", "Namespace", place(namespace, suffix)),
            pulumi.ResourceOptions(provider=provider),
            f"space-{suffix}",
        )
        for suffix in used
    }
    for name, suffix in VERSIONS[version].items():
        opts = pulumi.ResourceOptions(provider=provider, depends_on=[spaces[suffix]])
        config_map(name, opts, place(namespace, suffix), version=version)
    template = {
        "metadata": {"labels": {"version": version}},
        "spec": {"containers": [{"name": "c", "image": "registry.example/x:1"}]},
    }
    spec = {"replicas": 0, "selector": {"matchLabels": {"version": version}}, "template": template}
    suffix = WITH_DEPLOYMENT[version]
    register(
        kube_object("apps/v1", "Deployment", "replaced", place(namespace, suffix), spec=spec),
        pulumi.ResourceOptions(provider=provider, depends_on=[spaces[suffix]]),
    )


def main() -> None:
    folder, kubeconfig, namespace, version = sys.argv[1:]
    stack = Stack(Path(folder), kubeconfig)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    outcome = stack.up(lambda: program(stack, namespace, version)) if version != "0" else stack.destroy()
    sys.exit(0 if outcome.ok else stack.screen)


if __name__ == "__main__":
    main()
