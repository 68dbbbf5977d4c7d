"""What is wrong with the settings of a door, and what is risky."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.checks.front_door.door import Auth, Door, Tls, front_door
from components.checks.front_door.words import AuthKind, Exposure, TlsKind
from tests.checks.front_door.doors import (
    ARN,
    BALANCERS,
    ISSUED,
    KEYS,
    PRIVATE,
    PUBLIC,
    TOKENS,
    fleet,
    kinds,
    made,
    wrong,
)

ROWS: list[tuple[str, Door, str, str]] = [
    ("no tls", replace(PUBLIC, tls=Tls()), "tls", "set it to 'cert-manager' or 'acm', or set internal to true"),
    ("no auth", replace(PUBLIC, auth=Auth()), "auth", "set it to 'api-key' or 'jwt'"),
    ("both", replace(PUBLIC, allow_anonymous=True), "allowAnonymous", "contradicts auth 'api-key'"),
    ("no host", replace(PUBLIC, host=None), "host", "is required with tls 'cert-manager'"),
    ("bare host", replace(PUBLIC, host="models"), "host", "must be a DNS name such as models.example.com"),
    ("wild host", replace(PUBLIC, host="*.example.com"), "host", "must be a DNS name"),
    ("address", replace(PUBLIC, host="10.0.0.1"), "host", "must be a DNS name"),
    ("upper case", replace(PUBLIC, host="Models.example.com"), "host", "must be a DNS name"),
    ("url", replace(PUBLIC, host="https://models.example.com"), "host", "must be a DNS name"),
    ("no issuer", replace(PUBLIC, tls=Tls(TlsKind.CERT_MANAGER)), "tls.issuer", "name the issuer"),
    ("bad issuer", replace(PUBLIC, tls=Tls(TlsKind.CERT_MANAGER, issuer="A b")), "tls.issuer", "must be the name"),
    ("issuer idle", replace(PUBLIC, tls=Tls(TlsKind.ACM, "a", certificate_arn=ARN)), "tls.issuer", "has no effect"),
    ("no arn", replace(PUBLIC, tls=Tls(TlsKind.ACM)), "tls.certificateArn", "set it to the ARN"),
    (
        "bad arn",
        replace(PUBLIC, tls=Tls(TlsKind.ACM, certificate_arn="x")),
        "tls.certificateArn",
        "must be of the form",
    ),
    (
        "arn idle",
        replace(PUBLIC, tls=replace(ISSUED, certificate_arn=ARN)),
        "tls.certificateArn",
        "has no effect with tls 'cert-manager'",
    ),
    ("no secret", replace(PUBLIC, auth=Auth(AuthKind.API_KEY)), "auth.secrets", "name a Secret"),
    (
        "bad secret",
        replace(PUBLIC, auth=Auth(AuthKind.API_KEY, ("A",))),
        "auth.secrets[0]",
        "must be the name of a Secret",
    ),
    ("twice", replace(PUBLIC, auth=Auth(AuthKind.API_KEY, ("a", "a"))), "auth.secrets[1]", "is listed twice"),
    ("keys idle", replace(PUBLIC, auth=replace(TOKENS, secrets=("a",))), "auth.secrets", "have no effect"),
    ("token idle", replace(PUBLIC, auth=replace(KEYS, issuer="a")), "auth.issuer", "has no effect with auth"),
    ("no signer", replace(PUBLIC, auth=replace(TOKENS, issuer=None)), "auth.issuer", "is required with jwt"),
    ("long signer", replace(PUBLIC, auth=replace(TOKENS, issuer="a" * 254)), "auth.issuer", "at most 253"),
    ("no keys", replace(PUBLIC, auth=replace(TOKENS, jwks_uri=None)), "auth.jwksUri", "is required with jwt"),
    ("plain keys", replace(PUBLIC, auth=replace(TOKENS, jwks_uri="http://a/b")), "auth.jwksUri", "must be an https"),
    ("bad keys", replace(PUBLIC, auth=replace(TOKENS, jwks_uri="https://[a")), "auth.jwksUri", "must be an https"),
    ("no host of keys", replace(PUBLIC, auth=replace(TOKENS, jwks_uri="https:///a")), "auth.jwksUri", "must be an"),
    ("anybody's", replace(PUBLIC, auth=replace(TOKENS, audiences=())), "auth.audiences", "is required with jwt"),
    ("too many", replace(PUBLIC, auth=replace(TOKENS, audiences=("a",) * 9)), "auth.audiences", "at most 8, found 9"),
    ("seconds", replace(PUBLIC, request_timeout="600"), "requestTimeout", "must be a duration such as 10m"),
    ("zero", replace(PUBLIC, request_timeout="0s"), "requestTimeout", "must be a duration such as 10m"),
    ("days", replace(PUBLIC, request_timeout="1d"), "requestTimeout", "must be a duration such as 10m"),
    ("small", replace(PUBLIC, max_body_size="63Ki"), "maxBodySize", "must be a size from 64Ki to 500Mi"),
    ("large", replace(PUBLIC, max_body_size="501Mi"), "maxBodySize", "must be a size from 64Ki to 500Mi"),
    ("fraction", replace(PUBLIC, max_body_size="1.5Mi"), "maxBodySize", "such as 50Mi, found '1.5Mi'"),
    ("no size", replace(PUBLIC, max_body_size="50MB"), "maxBodySize", "such as 50Mi, found '50MB'"),
    ("milli", replace(PUBLIC, max_body_size="52428800000m"), "maxBodySize", "such as 50Mi"),
    ("bytes and size", replace(BALANCERS, max_body_size="60Mi"), "maxBodySize", "has no effect with expose 'load-"),
    ("no claim", replace(PUBLIC, auth=replace(TOKENS, client_claim="")), "auth.clientClaim", "such as sub, found ''"),
    ("claim", replace(PUBLIC, auth=replace(KEYS, client_claim="azp")), "auth.clientClaim", "has no effect with auth"),
    ("name", replace(PUBLIC, name="1st"), "name", "found '1st'"),
    ("space", replace(PUBLIC, namespace="A"), "namespace", "found 'A'"),
    ("proxies", replace(PUBLIC, replicas=0), "replicas", "must be at least 1, found 0"),
    ("public bytes", Door(Exposure.LOAD_BALANCER), "internal", "must be true with expose 'load-balancer'"),
    ("bytes and keys", replace(BALANCERS, auth=KEYS), "auth", "'api-key' requires expose 'gateway'"),
    (
        "bytes and tls",
        replace(BALANCERS, tls=Tls(TlsKind.ACM, certificate_arn=ARN)),
        "tls",
        "'acm' requires expose 'gateway'",
    ),
    ("bytes and host", replace(BALANCERS, host="a.example.com"), "host", "has no effect with expose 'load-balancer'"),
]


@pytest.mark.parametrize(("door", "path", "reason"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_what_is_wrong_names_field_and_remedy(door: Door, path: str, reason: str) -> None:
    ((found, text),) = wrong(door)
    assert found == f"frontDoor.{path}"
    assert reason in text


def test_everything_is_told_at_once() -> None:
    door = Door(
        Exposure.GATEWAY, host="x", tls=Tls(TlsKind.ACM), auth=Auth(AuthKind.JWT), request_timeout="", replicas=0
    )
    assert [path.removeprefix("frontDoor.") for path, _ in wrong(door)] == [
        "host",
        "requestTimeout",
        "replicas",
        "tls.certificateArn",
        "auth.issuer",
        "auth.jwksUri",
        "auth.audiences",
    ]


def test_problems_name_the_file_of_the_settings() -> None:
    (problem,) = front_door(fleet("m"), replace(PUBLIC, replicas=0), "Pulumi.prod.yaml").problems
    assert str(problem) == "Pulumi.prod.yaml: frontDoor.replicas: must be at least 1, found 0"


@pytest.mark.parametrize(
    ("door", "path"),
    [
        (replace(PRIVATE, allow_anonymous=False), "frontDoor.auth"),
        (Door(Exposure.GATEWAY, internal=True, auth=KEYS), "frontDoor.tls"),
    ],
)
def test_what_is_risky_within_a_private_network_is_a_warning(door: Door, path: str) -> None:
    ((found, _),) = wrong(door, severity="warning")
    assert found == path
    assert made(door).objects


@pytest.mark.parametrize("door", [PUBLIC, replace(PUBLIC, auth=TOKENS), PRIVATE, BALANCERS])
def test_what_is_right_is_not_complained_about(door: Door) -> None:
    assert front_door(fleet("m"), door).problems == ()


@given(
    st.sampled_from([Exposure.GATEWAY, Exposure.LOAD_BALANCER]),
    st.sampled_from([None, "models.example.com", "x"]),
    st.sampled_from([Tls(), ISSUED, Tls(TlsKind.ACM, certificate_arn=ARN), Tls(TlsKind.ACM)]),
    st.sampled_from([Auth(), KEYS, TOKENS, Auth(AuthKind.JWT)]),
    st.booleans(),
    st.booleans(),
)
def test_no_model_is_ever_public_without_tls_and_without_a_key_by_accident(
    expose: Exposure, host: str | None, tls: Tls, auth: Auth, internal: bool, anonymous: bool
) -> None:
    door = Door(expose, host=host, tls=tls, auth=auth, internal=internal, allow_anonymous=anonymous)
    plan = front_door(fleet("m"), door)
    if not plan.objects:
        assert [p for p in plan.problems if p.severity == "error"]
        return
    texts = str(plan.objects)
    if "internet-facing" in texts:
        assert plan.endpoints[0].url.startswith("https://")
        assert "SecurityPolicy" in kinds(plan) or anonymous
