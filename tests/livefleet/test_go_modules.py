"""The programs of the live fleet share what the control plane compiles: the same modules in the same versions."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from livefleet.go_tools import TOOLS
from toolkit.toolchain import pinned
from workbench.cluster import binaries

MODULES = ("gateway", "adapter", "prometheus", "lws-controller")
OWN = re.compile(r"github\.com/prometheus/|go\.opentelemetry\.io/|github\.com/go-openapi/")
"""Prometheus needs newer releases of these than Kubernetes has, and uses little that depends on them."""


def replaced(folder: Path) -> dict[str, str]:
    """The modules that a go.mod replaces by a version of themselves."""
    text = (folder / "go.mod").read_text()
    return {one: version for one, other, version in re.findall(r"(\S+) => (\S+) (v\S+)", text) if one == other}


def required(folder: Path) -> Iterator[tuple[str, str]]:
    text = (folder / "go.mod").read_text().partition("replace (")[0]
    yield from re.findall(r"^(?:require)?\s+(\S+\.\S+) (v\S+)", text, re.MULTILINE)


def used(folder: Path) -> dict[str, str]:
    """The versions that are compiled."""
    return {**dict(required(folder)), **replaced(folder)}


@pytest.mark.parametrize("module", MODULES)
def test_what_the_control_plane_uses_has_its_version(module: str) -> None:
    control_plane, other = used(binaries.TOOLS), used(TOOLS / module)
    shared = {name for name in control_plane.keys() & other.keys() if module != "prometheus" or not OWN.match(name)}
    assert {"k8s.io/apimachinery", "golang.org/x/net", "google.golang.org/grpc"} <= shared
    different = {name: (other[name], control_plane[name]) for name in shared if other[name] != control_plane[name]}
    assert different == {}


def test_the_programs_have_the_pinned_versions() -> None:
    """No replacement applies to what is run: only to what it uses."""
    assert pinned("github.com/envoyproxy/gateway", TOOLS / "gateway") == "v1.9.0"
    assert pinned("sigs.k8s.io/prometheus-adapter", TOOLS / "adapter") == "v0.12.0"
    assert pinned("github.com/prometheus/prometheus", TOOLS / "prometheus") == "v0.315.0"
    assert pinned("sigs.k8s.io/lws", TOOLS / "lws-controller") == "v0.9.0"
    for module in MODULES:
        assert not replaced(TOOLS / module).keys() & {
            "github.com/envoyproxy/gateway", "sigs.k8s.io/prometheus-adapter", "github.com/prometheus/prometheus",
            "sigs.k8s.io/lws",
        }  # fmt: skip
