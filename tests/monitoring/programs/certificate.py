"""Certificates for the aggregation layer: one that serves, and the API server's own towards what it proxies to."""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from workbench.cluster.pki import write_private

_VALID_FOR = datetime.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate that is its own authority: who is given the file as authority trusts it alone."""

    certificate: Path
    key: Path


def self_signed(folder: Path, name: str, serves: Sequence[str] = ()) -> Certificate:
    """Make a certificate: for a server of these names, or for a client where there are none."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    usage = ExtendedKeyUsageOID.SERVER_AUTH if serves else ExtendedKeyUsageOID.CLIENT_AUTH
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + _VALID_FOR)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
    )
    if serves:
        names = x509.SubjectAlternativeName([x509.DNSName(each) for each in serves])
        builder = builder.add_extension(names, critical=False)
    made = Certificate(folder / f"{name}.crt", folder / f"{name}.key")
    signed = builder.sign(key, hashes.SHA256())
    write_private(made.certificate, signed.public_bytes(serialization.Encoding.PEM))
    plain = (serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption())
    write_private(made.key, key.private_bytes(serialization.Encoding.PEM, *plain))
    return made
