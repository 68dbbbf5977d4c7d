"""Certificates: who they say they are, who signed them, what they may be used for."""

import datetime
import ipaddress
import stat
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from toolkit.private import write_private
from workbench.cluster.pki import IDENTITIES, Identity, Pki

# Users and groups that Kubernetes' default RBAC roles are bound to (kubernetes.io: "PKI certificates and
# requirements", "Using RBAC Authorization": core component roles).
SUBJECTS = [
    ("admin", "ca", "workbench-admin", ["system:masters"]),
    ("controller-manager", "ca", "system:kube-controller-manager", []),
    ("scheduler", "ca", "system:kube-scheduler", []),
    ("kwok", "ca", "workbench-kwok", ["workbench:kwok"]),
    ("server", "ca", "kube-apiserver", []),
    ("etcd-client", "etcd-ca", "kube-apiserver", []),
    ("etcd", "etcd-ca", "etcd", []),
    ("fleet", "ca", "workbench-fleet", ["workbench:fleet"]),
    ("door", "ca", "workbench-door", ["workbench:door"]),
    ("lws-controller", "ca", "workbench-lws-controller", ["workbench:lws-controller"]),
    ("prometheus-adapter", "ca", "workbench-prometheus-adapter", ["workbench:prometheus-adapter"]),
    ("front-proxy-client", "front-proxy-ca", "front-proxy-client", []),
]


@pytest.fixture(scope="module")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Pki:
    made = Pki(tmp_path_factory.mktemp("state") / "pki")
    made.ensure()
    return made


def read(path: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(path.read_bytes())


@pytest.mark.parametrize(("name", "authority", "user", "groups"), SUBJECTS, ids=[each[0] for each in SUBJECTS])
def test_subject_and_issuer(pki: Pki, name: str, authority: str, user: str, groups: list[str]) -> None:
    certificate, issuer = read(pki.certificate(name)), read(pki.folder / f"{authority}.crt")
    assert [each.value for each in certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)] == [user]
    found = certificate.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    assert [each.value for each in found] == groups
    certificate.verify_directly_issued_by(issuer)
    key_of = certificate.extensions.get_extension_for_class(x509.AuthorityKeyIdentifier).value.key_identifier
    assert key_of == issuer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value.digest


@pytest.mark.parametrize("name", [each[0] for each in SUBJECTS])
def test_only_servers_may_serve(pki: Pki, name: str) -> None:
    extensions = read(pki.certificate(name)).extensions
    usages = list(extensions.get_extension_for_class(x509.ExtendedKeyUsage).value)
    assert ExtendedKeyUsageOID.CLIENT_AUTH in usages
    assert (ExtendedKeyUsageOID.SERVER_AUTH in usages) == (name in ("server", "etcd"))
    with pytest.raises(x509.ExtensionNotFound):
        extensions.get_extension_for_class(x509.BasicConstraints)  # none of them signs others


def test_the_server_is_known_by_its_addresses(pki: Pki) -> None:
    names = read(pki.certificate("server")).extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert {str(ip) for ip in names.get_values_for_type(x509.IPAddress)} == {"127.0.0.1", "10.96.0.1"}
    assert ipaddress.ip_address("10.96.0.1") in ipaddress.ip_network("10.96.0.0/16")
    assert {"localhost", "kubernetes.default.svc"} <= set(names.get_values_for_type(x509.DNSName))


def test_they_outlast_a_try_out_and_a_clock_that_lags(pki: Pki) -> None:
    now = datetime.datetime.now(datetime.UTC)
    for path in pki.folder.glob("*.crt"):
        certificate = read(path)
        assert certificate.not_valid_before_utc <= now - datetime.timedelta(minutes=30)
        assert certificate.not_valid_after_utc > now + datetime.timedelta(days=365)


def test_authorities_cannot_sign_any_more(pki: Pki) -> None:
    """Their keys are kept nowhere; nobody who reads the folder makes himself a certificate."""
    keys = {path.stem for path in pki.folder.glob("*.key")}
    assert keys == {each[0] for each in SUBJECTS} | {"service-account"}


def test_a_complete_set_is_kept_and_a_half_one_is_made_again(tmp_path: Path) -> None:
    pki = Pki(tmp_path / "pki")
    pki.ensure()
    before = {path.name: path.read_bytes() for path in pki.folder.iterdir()}
    pki.ensure()
    assert {path.name: path.read_bytes() for path in pki.folder.iterdir()} == before
    (pki.folder / "complete").unlink()
    assert not pki.complete
    pki.ensure()
    assert pki.complete
    read(pki.certificate("admin")).verify_directly_issued_by(read(pki.authority))


def test_identities_are_the_issued_ones() -> None:
    members = {"admin", "controller-manager", "scheduler", "kwok"}
    assert {each.file for each in IDENTITIES} == members | {"fleet", "door", "lws-controller", "prometheus-adapter"}
    assert Identity("scheduler", "system:kube-scheduler") in IDENTITIES


def test_private_files_are_private_from_the_first_byte(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("old")
    path.chmod(0o644)
    write_private(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["secret"]
