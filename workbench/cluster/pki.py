"""Certificates and kubeconfigs of the simulated cluster: three authorities, one identity per member."""

import ipaddress
from dataclasses import dataclass
from pathlib import Path

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID

from toolkit.certificates import certificate_builder, pem, subject_name
from toolkit.ports import LOOPBACK
from toolkit.private import write_private

SERVICE_IP = "10.96.0.1"
"""First address of the service range, the cluster IP of the API server."""
_GENERATION = b"6"
"""Version of the set of certificates and of the flags that refer to it.

If a state folder has another version, its certificates are recreated and its members restarted.
"""
_SERVER_NAMES = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")


@dataclass(frozen=True, slots=True)
class Identity:
    """The subject of a client certificate: user (CN) and groups (O), as RBAC reads them."""

    file: str
    user: str
    groups: tuple[str, ...] = ()


ADMIN = Identity("admin", "workbench-admin", ("system:masters",))
IDENTITIES = (
    ADMIN,
    Identity("controller-manager", "system:kube-controller-manager"),
    Identity("scheduler", "system:kube-scheduler"),
    Identity("kwok", "workbench-kwok", ("workbench:kwok",)),
    Identity("fleet", "workbench-fleet", ("workbench:fleet",)),
    Identity("door", "workbench-door", ("workbench:door",)),
    Identity("lws-controller", "workbench-lws-controller", ("workbench:lws-controller",)),
    Identity("prometheus-adapter", "workbench-prometheus-adapter", ("workbench:prometheus-adapter",)),
)
FRONT_PROXY = Identity("front-proxy-client", "front-proxy-client")
"""The API server as a client of aggregated API servers, to which it passes the user in headers."""


@dataclass(frozen=True, slots=True)
class _Authority:
    name: x509.Name
    key: ec.EllipticCurvePrivateKey


class Pki:
    """The certificates in one folder, which are kept across restarts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def complete(self) -> bool:
        """Whether the set is complete and current; the marker is written last."""
        return self._marker.exists() and self._marker.read_bytes() == _GENERATION

    @property
    def _marker(self) -> Path:
        return self.folder / "complete"

    @property
    def authority(self) -> Path:
        """Certificate of the authority for clients of the API server."""
        return self.folder / "ca.crt"

    @property
    def etcd_authority(self) -> Path:
        """Certificate of the authority for clients of etcd.

        With a common authority, every client certificate of the cluster would grant access to etcd, bypassing RBAC.
        """
        return self.folder / "etcd-ca.crt"

    @property
    def front_proxy_authority(self) -> Path:
        """Certificate of the authority for the API server as a client of aggregated API servers.

        With a common authority, every client of the cluster could impersonate any user towards those servers.
        """
        return self.folder / "front-proxy-ca.crt"

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
        """Create the set, unless it is complete."""
        if self.complete:
            return
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._marker.unlink(missing_ok=True)
        cluster, etcd = self._authority(self.authority), self._authority(self.etcd_authority)
        for identity in IDENTITIES:
            self._issue(identity, cluster)
        self._issue(Identity("server", "kube-apiserver"), cluster, serves=True)
        self._issue(Identity("etcd-client", "kube-apiserver"), etcd)
        self._issue(Identity("etcd", "etcd"), etcd, serves=True)
        self._issue(FRONT_PROXY, self._authority(self.front_proxy_authority))
        service_account = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        write_private(self.service_account_key, pem(service_account))
        write_private(self._marker, _GENERATION)

    def _authority(self, path: Path) -> "_Authority":
        """Create an authority. Its key is not stored, because nothing is signed later."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = subject_name(f"workbench-{path.stem}", ())
        usage = x509.KeyUsage(
            digital_signature=True, content_commitment=False, key_encipherment=False, data_encipherment=False,
            key_agreement=False, key_cert_sign=True, crl_sign=True, encipher_only=False, decipher_only=False,
        )  # fmt: skip
        certificate = (
            certificate_builder(name, name, key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .sign(key, hashes.SHA256())
        )
        write_private(path, certificate.public_bytes(serialization.Encoding.PEM))
        return _Authority(name, key)

    def _issue(self, identity: Identity, authority: "_Authority", *, serves: bool = False) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        usages = [ExtendedKeyUsageOID.CLIENT_AUTH] + ([ExtendedKeyUsageOID.SERVER_AUTH] if serves else [])
        # Python 3.13 requires an AuthorityKeyIdentifier (VERIFY_X509_STRICT).
        issued_by = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key())
        builder = (
            certificate_builder(subject_name(identity.user, identity.groups), authority.name, key.public_key())
            .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
            .add_extension(issued_by, critical=False)
        )
        if serves:
            addresses = [x509.IPAddress(ipaddress.ip_address(ip)) for ip in (LOOPBACK, SERVICE_IP)]
            names: list[x509.GeneralName] = [x509.DNSName(name) for name in _SERVER_NAMES]
            builder = builder.add_extension(x509.SubjectAlternativeName([*names, *addresses]), critical=False)
        certificate = builder.sign(authority.key, hashes.SHA256())
        write_private(self.key(identity.file), pem(key))
        write_private(self.certificate(identity.file), certificate.public_bytes(serialization.Encoding.PEM))


def kubeconfig(pki: Pki, identity: Identity, server: str) -> str:
    """Return a kubeconfig with embedded certificates, which works from any folder."""
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
