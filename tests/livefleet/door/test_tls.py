"""Certificates that cert-manager would make, and the gateway that has them."""

import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from livefleet.door.keys import AUTHORITY, issued, secret
from livefleet.door.part import DoorPart
from livefleet.fleet import LiveFleet
from livefleet.folder import LiveFolder
from tests.livefleet.door.objects import backend, gateway, route, to_backend
from tests.livefleet.door.test_part import NAMESPACE
from toolkit.kube import Kube

HOST = "models.example.com"
SECRET = "door-tls"


def fleet() -> LiveFleet:
    objects = gateway(NAMESPACE)
    reference = {"group": "", "kind": "Secret", "name": SECRET}
    tls = {"mode": "Terminate", "certificateRefs": [reference]}
    listener = {"name": "https", "protocol": "HTTPS", "port": 443, "hostname": HOST, "tls": tls}
    objects[1]["spec"]["listeners"] = [listener]
    certificate = {
        "apiVersion": "cert-manager.io/v1",
        "kind": "Certificate",
        "metadata": {"name": "door", "namespace": NAMESPACE},
        "spec": {"secretName": SECRET, "dnsNames": [HOST], "issuerRef": {"name": "some"}},
    }
    routed = (backend("door-m", 80, NAMESPACE), route(to_backend("door-m"), namespace=NAMESPACE))
    return LiveFleet("t", door=(certificate, *objects, *routed))


@pytest.fixture
def authority(folder: LiveFolder, kube: Kube) -> Iterator[Path]:
    folder.write_fleet(fleet())
    DoorPart().start(folder, fleet(), lambda _: None)
    yield folder.path / "door" / AUTHORITY
    kube.delete("v1", "Secret", SECRET, NAMESPACE)


def asked(url: str, trusted: Path, host: str) -> int:
    context = ssl.create_default_context(cafile=str(trusted))
    address, _, port = url.removeprefix("https://").partition(":")
    with (
        socket.create_connection((address, int(port)), timeout=10) as plain,
        context.wrap_socket(plain, server_hostname=host) as secured,
    ):
        secured.sendall(f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        return int(secured.makefile("rb").readline().split()[1])


def test_the_gateway_has_the_certificate(folder: LiveFolder, authority: Path, kube: Kube) -> None:
    url = folder.addresses().door
    assert url.startswith("https://127.0.0.1:")
    assert asked(url, authority, HOST) == 503  # there is no pod
    with pytest.raises((ssl.SSLError, ConnectionError)):
        asked(url, authority, "other.example.com")
    before = secret(kube, (NAMESPACE, SECRET))
    DoorPart().start(folder, fleet(), lambda _: None)
    assert secret(kube, (NAMESPACE, SECRET)) == before
    private = kube.get("v1", "Secret", SECRET, NAMESPACE)
    assert private["type"] == "kubernetes.io/tls"
    files = [file for file in folder.path.rglob("*") if file.is_file()]
    assert not [file for file in files if b"PRIVATE KEY" in file.read_bytes()]


def test_another_authority_is_not_trusted(folder: LiveFolder, authority: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.crt"
    other.write_bytes(issued([HOST])[0])
    with pytest.raises(ssl.SSLCertVerificationError):
        asked(folder.addresses().door, other, HOST)
    assert authority.exists()
