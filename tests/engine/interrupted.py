"""A process that deploys, to be killed: ``python interrupted.py FOLDER KUBECONFIG NAMESPACE VERSION``."""

import sys
from pathlib import Path

import pulumi

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.engine.support import Stack, config_map, kube_object, register

NAMES = {
    "1": [f"c{number:02}" for number in range(40)],
    "2": [f"c{number:02}" for number in range(20, 60)],
}
"""Going from 1 to 2 keeps 20 objects with new content, creates 20 and deletes 20."""


def program(stack: Stack, namespace: str, version: str) -> None:
    provider = stack.provider()
    space = register(kube_object("v1", "Namespace", namespace), pulumi.ResourceOptions(provider=provider), "space")
    for name in NAMES[version]:
        opts = pulumi.ResourceOptions(provider=provider, depends_on=[space])
        config_map(name, opts, namespace, version=version)
    template = {
        "metadata": {"labels": {"version": version}},
        "spec": {"containers": [{"name": "c", "image": "registry.example/x:1"}]},
    }
    spec = {"replicas": 0, "selector": {"matchLabels": {"version": version}}, "template": template}
    register(
        kube_object("apps/v1", "Deployment", "replaced", namespace, spec=spec),
        pulumi.ResourceOptions(provider=provider, depends_on=[space]),
    )


def main() -> None:
    folder, kubeconfig, namespace, version = sys.argv[1:]
    stack = Stack(Path(folder), kubeconfig)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    outcome = stack.up(lambda: program(stack, namespace, version))
    sys.exit(0 if outcome.ok else stack.screen)


if __name__ == "__main__":
    main()
