"""Secrets that users and cert-manager would create: client keys and a certificate."""

import base64
import datetime
import ipaddress
import secrets
from collections.abc import Iterable, Iterator
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from toolkit.errors import UserError
from toolkit.kube import Kube, KubeError
from toolkit.ports import LOOPBACK
from toolkit.private import write_private

from ..fleet import Object
from ..folder import LiveFolder

KEY = "key"
"""File in the live fleet's folder with a client key for the gateway."""
AUTHORITY = "ca.crt"
"""File in the door's folder with the CA certificate of the gateway."""
CLIENT = "workbench"
_BYTES = 32
_MANAGER = "workbench"
_VALID_FOR = datetime.timedelta(days=365)
_NOT_FOUND = 404
Place = tuple[str, str]


def key_secrets(objects: Iterable[Object]) -> list[Place]:
    """Return the Secrets with client keys."""
    places: list[Place] = []
    for body in objects:
        if body["kind"] == "SecurityPolicy":
            references = body["spec"].get("apiKeyAuth", {}).get("credentialRefs", ())
            places += [(body["metadata"]["namespace"], reference["name"]) for reference in references]
    return places


def certificates(objects: Iterable[Object]) -> Iterator[tuple[Place, list[str]]]:
    """Yield the Secret and the DNS names of each Certificate."""
    for body in objects:
        if body["kind"] == "Certificate":
            spec = body["spec"]
            yield (body["metadata"]["namespace"], spec["secretName"]), list(spec.get("dnsNames", ()))


def secret_places(objects: Iterable[Object]) -> list[Place]:
    """Return every Secret that the objects of a gateway reference."""
    rendered = tuple(objects)
    places = {*key_secrets(rendered), *(place for place, _ in certificates(rendered))}
    for body in rendered:
        if body["kind"] == "Gateway":
            for listener in body["spec"].get("listeners", ()):
                references = listener.get("tls", {}).get("certificateRefs", ())
                namespace = body["metadata"]["namespace"]
                places |= {(reference.get("namespace", namespace), reference["name"]) for reference in references}
    return sorted(places)


def ensure_keys(kube: Kube, folder: LiveFolder, objects: Iterable[Object]) -> None:
    """Create missing Secrets with client keys, and store one key in a file for users.

    Raises:
        UserError: an existing Secret has no key.
    """
    key_file = folder.path / KEY
    key = ""
    for place in key_secrets(objects):
        data = secret(kube, place)
        if data is None:
            data = {CLIENT: _encoded(secrets.token_urlsafe(_BYTES).encode())}
            _create(kube, place, "Opaque", data)
        if not data:
            raise UserError(f"Secret {'/'.join(place)} has no entry; add one for each client, with its key")
        key = key or base64.b64decode(data[min(data)]).decode(errors="replace")
    if key:
        write_private(key_file, key.encode())
    else:
        key_file.unlink(missing_ok=True)


def ensure_certificates(kube: Kube, folder: LiveFolder, objects: Iterable[Object]) -> None:
    """Create missing certificates, in place of cert-manager.

    Each has its own CA, whose private key is discarded; clients get the CA certificate.
    """
    for place, names in certificates(objects):
        if secret(kube, place) is None:
            authority, certificate, key = issued(names)
            data = {"tls.crt": _encoded(certificate), "tls.key": _encoded(key), "ca.crt": _encoded(authority)}
            _create(kube, place, "kubernetes.io/tls", data)
        stored = secret(kube, place) or {}
        write_private(folder.path / "door" / AUTHORITY, base64.b64decode(stored.get("ca.crt", "")))


def delete_created(folder: LiveFolder, objects: Iterable[Object]) -> None:
    """Delete the Secrets that were created for a gateway, except those that others have modified since."""
    places = secret_places(objects)
    if not places or not folder.kubeconfig.exists():
        return
    try:
        with Kube.from_kubeconfig(folder.kubeconfig) as kube:
            for place in places:
                stored = secret_object(kube, place)
                fields = stored["metadata"].get("managedFields", ()) if stored else ()
                if fields and {field["manager"] for field in fields} == {_MANAGER}:
                    kube.delete("v1", "Secret", place[1], place[0])
    except (KubeError, UserError):
        return  # the cluster is gone, and the Secrets with it


def secret(kube: Kube, place: Place) -> dict[str, str] | None:
    """Return the data of a Secret; None if it does not exist."""
    body = secret_object(kube, place)
    return None if body is None else dict(body.get("data") or {})


def secret_object(kube: Kube, place: Place) -> Object | None:
    """Return a Secret; None if it does not exist."""
    namespace, name = place
    try:
        return kube.get("v1", "Secret", name, namespace)
    except KubeError as error:
        if error.status == _NOT_FOUND:
            return None
        raise


def _create(kube: Kube, place: Place, kind: str, data: dict[str, str]) -> None:
    namespace, name = place
    metadata: dict[str, Any] = {"name": name, "namespace": namespace}
    kube.apply(
        {"apiVersion": "v1", "kind": "Secret", "type": kind, "metadata": metadata, "data": data}, manager=_MANAGER
    )


def _encoded(value: bytes) -> str:
    return base64.b64encode(value).decode()


def issued(names: Iterable[str]) -> tuple[bytes, bytes, bytes]:
    """Return a new CA certificate, a certificate signed for the names and loopback, and its private key."""
    signer, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    authority = (
        _builder("workbench-door-ca", "workbench-door-ca", signer)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(signer.public_key()), critical=False)
        .sign(signer, hashes.SHA256())
    )
    dns_names: list[x509.GeneralName] = [x509.DNSName(name) for name in (*names, "localhost")]
    alternatives = [*dns_names, x509.IPAddress(ipaddress.ip_address(LOOPBACK))]
    certificate = (
        _builder("workbench-door", "workbench-door-ca", key)
        .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
        .sign(signer, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return authority.public_bytes(pem), certificate.public_bytes(pem), private


def _builder(subject: str, issuer: str, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + _VALID_FOR)
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])
