"""Certificates and kubeconfigs of the simulated cluster: one authority, one identity per member."""

import datetime
import ipaddress
import os
from dataclasses import dataclass
from pathlib import Path

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LOOPBACK = "127.0.0.1"
SERVICE_IP = "10.96.0.1"
"""First address of the service range: what pods would reach the API server by."""
_VALID_FOR = datetime.timedelta(days=3650)
_SERVER_NAMES = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a client certificate says it is: a user and the groups it belongs to (RBAC subjects)."""

    file: str
    user: str
    groups: tuple[str, ...] = ()


ADMIN = Identity("admin", "workbench-admin", ("system:masters",))
IDENTITIES = (
    ADMIN,
    Identity("controller-manager", "system:kube-controller-manager"),
    Identity("scheduler", "system:kube-scheduler"),
    Identity("kwok", "workbench-kwok", ("workbench:kwok",)),
    Identity("etcd-client", "kube-apiserver-etcd-client"),
)


class Pki:
    """The files under one folder; what exists is kept, so that restarts keep their identities."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def authority(self) -> Path:
        """Certificate of the authority that signs everything."""
        return self.folder / "ca.crt"

    @property
    def service_account_key(self) -> Path:
        """Private key that signs service account tokens."""
        return self.folder / "service-account.key"

    def certificate(self, name: str) -> Path:
        """Certificate file of ``name``."""
        return self.folder / f"{name}.crt"

    def key(self, name: str) -> Path:
        """Private key file of ``name``."""
        return self.folder / f"{name}.key"

    def ensure(self) -> None:
        """Write what is missing. The last file written marks the set as complete."""
        complete = self.folder / "complete"
        if complete.exists():
            return
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        authority_key = ec.generate_private_key(ec.SECP256R1())
        subject = _name("workbench-ca", ())
        usage = x509.KeyUsage(
            digital_signature=True, content_commitment=False, key_encipherment=False, data_encipherment=False,
            key_agreement=False, key_cert_sign=True, crl_sign=True, encipher_only=False, decipher_only=False,
        )  # fmt: skip
        authority = (
            _builder(subject, subject, authority_key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(authority_key.public_key()), critical=False)
            .sign(authority_key, hashes.SHA256())
        )
        write_private(self.authority, authority.public_bytes(serialization.Encoding.PEM))
        for identity in IDENTITIES:
            self._issue(identity, authority, authority_key)
        self._issue(Identity("server", "kube-apiserver"), authority, authority_key, serves=True)
        service_account = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        write_private(self.service_account_key, _pem(service_account))
        write_private(complete, b"")

    def _issue(
        self,
        identity: Identity,
        authority: x509.Certificate,
        signer: ec.EllipticCurvePrivateKey,
        *,
        serves: bool = False,
    ) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        usages = [ExtendedKeyUsageOID.CLIENT_AUTH] + ([ExtendedKeyUsageOID.SERVER_AUTH] if serves else [])
        # Python 3.13 verifies strictly: it refuses a certificate that does not identify its authority's key.
        issued_by = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
        builder = (
            _builder(_name(identity.user, identity.groups), authority.subject, key.public_key())
            .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
            .add_extension(issued_by, critical=False)
        )
        if serves:
            addresses = [x509.IPAddress(ipaddress.ip_address(ip)) for ip in (LOOPBACK, SERVICE_IP)]
            names: list[x509.GeneralName] = [x509.DNSName(name) for name in _SERVER_NAMES]
            builder = builder.add_extension(x509.SubjectAlternativeName([*names, *addresses]), critical=False)
        certificate = builder.sign(signer, hashes.SHA256())
        write_private(self.key(identity.file), _pem(key))
        write_private(self.certificate(identity.file), certificate.public_bytes(serialization.Encoding.PEM))


def kubeconfig(pki: Pki, identity: Identity, server: str) -> str:
    """Return a self-contained kubeconfig: it can be copied and used from any folder."""
    import base64

    def embedded(path: Path) -> str:
        return base64.b64encode(path.read_bytes()).decode()

    name = "workbench"
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {
                    "name": name,
                    "cluster": {"server": server, "certificate-authority-data": embedded(pki.authority)},
                }
            ],
            "users": [
                {
                    "name": identity.user,
                    "user": {
                        "client-certificate-data": embedded(pki.certificate(identity.file)),
                        "client-key-data": embedded(pki.key(identity.file)),
                    },
                }
            ],
            "contexts": [{"name": name, "context": {"cluster": name, "user": identity.user}}],
            "current-context": name,
        },
        sort_keys=False,
    )


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, at once or not at all."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    temporary.replace(path)


def _pem(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )


def _name(user: str, groups: tuple[str, ...]) -> x509.Name:
    attributes = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    return x509.Name([*attributes, x509.NameAttribute(NameOID.COMMON_NAME, user)])


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + _VALID_FOR)
    )
