"""Who may ask, by token, at a gateway with TLS: keys of the issuer on loopback, a certificate as cert-manager's."""

import base64
import ssl
import time
from collections.abc import Iterator
from copy import deepcopy

import httpx
import pytest

from components.checks.front_door.door import Auth, Tls
from components.checks.front_door.limits import RateLimit
from components.checks.front_door.words import AuthKind, LimitUnit, TlsKind
from tests.livefleet.door.requests.doors import DoorFactory, Object, StoodDoor, chat, secret
from tests.livefleet.door.requests.issuer import (
    AUDIENCE,
    ISSUER,
    Certificate,
    Published,
    Signer,
    certificate_of,
    published,
)
from tests.livefleet.door.requests.planned import models, planned
from tests.monitoring.programs.daemon import eventually

HOST = "models.example.com"
MOST = 3
"""Requests of a client for a model in an hour; enough for none of the tests but those of limits."""
USUAL = 10_000


@pytest.fixture(scope="module")
def signer() -> Signer:
    return Signer("first")


@pytest.fixture(scope="module")
def keys(signer: Signer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Published]:
    with published(signer, tmp_path_factory.mktemp("issuer")) as found:
        yield found


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return certificate_of(tmp_path_factory.mktemp("tls"), HOST)


def objects(keys: Published, most: int = USUAL) -> tuple[Object, ...]:
    auth = Auth(AuthKind.JWT, issuer=ISSUER, jwks_uri=keys.url, audiences=(AUDIENCE, "others"))
    limit = RateLimit(requests=most, unit=LimitUnit.HOUR)
    tls = Tls(TlsKind.CERT_MANAGER, issuer="authority")
    return planned(*models("m"), auth=auth, tls=tls, host=HOST, rate_limit=limit).door.objects


def pair(certificate: Certificate) -> Object:
    entries = {"tls.crt": certificate.certificate.read_text(), "tls.key": certificate.key.read_text()}
    return secret("inference-gateway-tls", entries, kind="kubernetes.io/tls")


@pytest.fixture(scope="module")
def door(keys: Published, certificate: Certificate, stand: DoorFactory) -> Iterator[StoodDoor]:
    with stand(objects(keys), [pair(certificate)], authority=keys.certificate.certificate) as found:
        yield found


def client(door: StoodDoor, certificate: Certificate, *, http2: bool = False, name: str = HOST) -> httpx.Client:
    """A client that takes the gateway for a name, whatever its address."""
    context = ssl.create_default_context(cafile=str(certificate.certificate))
    port = httpx.URL(door.url).port
    transport = httpx.HTTPTransport(verify=context, http2=http2)
    found = httpx.Client(base_url=f"https://127.0.0.1:{port}", transport=transport, timeout=60)
    found.headers["host"] = name
    found.event_hooks["request"] = [lambda request: request.extensions.update(sni_hostname=name)]
    return found


def asked(door: StoodDoor, certificate: Certificate, token: str, **more: str) -> httpx.Response:
    with client(door, certificate) as found:
        headers = {**({"authorization": f"Bearer {token}"} if token else {}), **more}
        return found.post("/v1/chat/completions", json=chat("m"), headers=headers)


@pytest.fixture(scope="module", autouse=True)
def ready(door: StoodDoor, certificate: Certificate, signer: Signer) -> None:
    """Envoy fetches the issuer's keys when it starts, and again where that failed."""
    eventually(lambda: asked(door, certificate, signer.token()).status_code == 200, "the issuer's keys are known")


def test_a_token_is_checked_and_stays_at_the_gateway(
    door: StoodDoor, certificate: Certificate, signer: Signer
) -> None:
    token = signer.token()
    assert asked(door, certificate, token).status_code == 200
    assert token not in str(door.engines.last)
    assert "authorization" not in door.engines.last.headers
    assert door.engines.last.headers["x-client-id"] == "carol"


def test_one_of_several_audiences_is_enough(door: StoodDoor, certificate: Certificate, signer: Signer) -> None:
    assert asked(door, certificate, signer.token(aud=["elsewhere", "others"])).status_code == 200


def wrong(signer: Signer) -> dict[str, str]:
    token, now = signer.token(), int(time.time())
    header, claims, signature = token.split(".")
    forged = claims.replace(claims[:8], base64.urlsafe_b64encode(b'{"iss"').decode()[:8])
    return {
        "none": "",
        "no token": "secret",
        "expired": signer.token(exp=now - 3600),
        "not yet": signer.token(nbf=now + 3600),
        "another audience": signer.token(aud="elsewhere"),
        "no audience": signer.token(aud=None),
        "another issuer": signer.token(iss="https://id.example.org"),
        "no issuer": signer.token(iss=None),
        "another key": Signer("first").token(),
        "an unknown key": Signer("second").token(),
        "no signature": f"{header}.{claims}.",
        "not signed": signer.token(algorithm="none"),
        "a changed signature": f"{header}.{claims}.{signature[::-1]}",
        "changed claims": f"{header}.{forged}x.{signature}",
    }


def test_a_wrong_token_is_refused(door: StoodDoor, certificate: Certificate, signer: Signer) -> None:
    before, found = len(door.engines.arrived), {}
    for name, token in wrong(signer).items():
        found[name] = asked(door, certificate, token).status_code
    # An audience is a matter of rights for Envoy, all else one of who somebody is.
    assert found == {name: 403 if "audience" in name else 401 for name in found}
    assert door.engines.since(before) == []


def test_a_token_in_the_query_is_none(door: StoodDoor, certificate: Certificate, signer: Signer) -> None:
    """Envoy looks there by default; what stands there is logged on the way."""
    with door.logging() as lines, client(door, certificate) as found:
        answer = found.post(f"/v1/chat/completions?access_token={signer.token()}", json=chat("m"))
    assert answer.status_code == 401
    assert [line["path"] for line in lines] == ["/v1/chat/completions"]


def test_the_log_names_the_client_and_no_token(door: StoodDoor, certificate: Certificate, signer: Signer) -> None:
    token = signer.token(sub="dave")
    with door.logging() as lines:
        assert asked(door, certificate, token).status_code == 200
    assert [line["client"] for line in lines] == ["dave"]
    assert token not in door.log.read_text()


def test_both_protocols_over_tls(door: StoodDoor, certificate: Certificate, signer: Signer) -> None:
    body = chat("m", messages=[{"role": "user", "content": "long " * 200_000}])
    headers = {"authorization": f"Bearer {signer.token()}"}
    for http2 in (False, True):
        with client(door, certificate, http2=http2) as found:
            answer = found.post("/v1/chat/completions", json=body, headers=headers)
        assert (answer.status_code, answer.http_version) == (200, "HTTP/2" if http2 else "HTTP/1.1")
        assert door.engines.last.fields == body


def test_no_other_name_and_no_plain_text(door: StoodDoor, certificate: Certificate) -> None:
    with pytest.raises(httpx.TransportError), client(door, certificate, name="other.example.com") as found:
        found.get("/v1/models")
    with pytest.raises(httpx.TransportError):
        httpx.get(door.url.replace("https", "http") + "/v1/models", trust_env=False)


def test_a_token_without_the_claim_is_limited_as_well(
    keys: Published, certificate: Certificate, signer: Signer, stand: DoorFactory
) -> None:
    """Those without a name share a limit, whatever name they send along."""
    with stand(objects(keys, MOST), [pair(certificate)], authority=keys.certificate.certificate) as door:
        nobody = signer.token(sub=None)
        eventually(
            lambda: asked(door, certificate, signer.token(sub="early")).status_code == 200, "the keys are known"
        )
        found = [asked(door, certificate, nobody, **{"x-client-id": f"n{n}"}).status_code for n in range(MOST + 2)]
        assert found == [200] * MOST + [429] * 2
        assert asked(door, certificate, signer.token()).status_code == 200


def test_a_token_that_reaches_an_engine_would_be_noticed(
    keys: Published, certificate: Certificate, signer: Signer, stand: DoorFactory
) -> None:
    """The defect: backends without ``headerMutation``, as a mutation of what is rendered."""
    given = deepcopy(objects(keys))
    for body in given:
        if body["kind"] == "AIServiceBackend":
            del body["spec"]["headerMutation"]
    with stand(given, [pair(certificate)], authority=keys.certificate.certificate) as door:
        token = signer.token()
        eventually(lambda: asked(door, certificate, token).status_code == 200, "the keys are known")
        assert token in str(door.engines.last)
