"""Certificates of the simulated cluster and of local servers."""

import datetime
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from .private import write_private

_VALID_FOR = datetime.timedelta(days=3650)


def self_signed(folder: Path, name: str, host: str) -> tuple[Path, Path]:
    """Create a self-signed certificate and key of a server; clients trust it by the certificate's file."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = subject_name(name, ())
    certificate = (
        certificate_builder(subject, subject, key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    files = folder / f"{name}.crt", folder / f"{name}.key"
    write_private(files[1], pem(key))
    write_private(files[0], certificate.public_bytes(serialization.Encoding.PEM))
    return files


def pem(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> bytes:
    """Return a private key as unencrypted PEM, for a private file."""
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )


def subject_name(user: str, groups: tuple[str, ...]) -> x509.Name:
    """Return the name of a user and its groups, as RBAC reads them from a certificate."""
    attributes = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    return x509.Name([*attributes, x509.NameAttribute(NameOID.COMMON_NAME, user)])


def certificate_builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    """Start a certificate that is valid from an hour ago, to tolerate clock skew."""
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
