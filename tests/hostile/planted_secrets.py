"""Secrets of many kinds as people write them, each with the part that no output may show.

The forms are those that the issuers document; every value is generated.
"""

import base64
import random
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_WORDS = ("zanzibar", "quokka", "marzipan", "bivouac", "tundra", "kumquat", "rhubarb", "obelisk")


@dataclass(frozen=True)
class PlantedSecret:
    """A secret.

    Attributes:
        kind: What it is.
        name: Name of a variable that holds it.
        value: The value of the variable.
        secret: The part of the value that no output may show.
        is_random: Whether its form or its letters tell that it is a secret, whatever field it stands in.
    """

    kind: str
    name: str
    value: str
    secret: str
    is_random: bool


def _letters(source: random.Random, length: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    return "".join(source.choice(alphabet) for _ in range(length))


def _hex(source: random.Random, length: int = 40) -> str:
    return _letters(source, length, "0123456789abcdef")


def _word(source: random.Random) -> str:
    """Return a password as people choose one."""
    return f"{source.choice(_WORDS)}-{source.choice(_WORDS)}{source.randrange(100, 1000)}"


def _encoded(source: random.Random) -> str:
    return base64.b64encode(f"user:{_letters(source, 14)}".encode()).decode()


_Kind = tuple[str, Callable[[random.Random], str], str, bool]
"""Variable, generator of the secret part, template of the value, and whether it looks random."""
KINDS: dict[str, _Kind] = {
    "PostgreSQL": ("PGPASSWORD", _word, "{}", False),
    "Redis": ("REDISCLI_AUTH", _word, "{}", False),
    "MySQL": ("MYSQL_PWD", _word, "{}", False),
    "MinIO": ("MINIO_ROOT_PASSWORD", _word, "{}", False),
    "Bedrock": ("AWS_BEARER_TOKEN_BEDROCK", lambda s: f"ABSK{_letters(s, 110)}", "{}", True),
    "AWS key": ("AWS_SECRET_ACCESS_KEY", lambda s: _letters(s, 40), "{}", True),
    "AWS key id": ("AWS_ACCESS_KEY_ID", lambda s: f"AKIA{_letters(s, 16, 'ABCDEFGHIJKLMNOP234567')}", "{}", True),
    "Hugging Face": ("HF_TOKEN", lambda s: f"hf_{_letters(s, 34)}", "{}", True),
    "ModelScope": ("MODELSCOPE_SDK_TOKEN", lambda s: f"ms-{_hex(s, 32)}", "{}", True),
    "Weights & Biases": ("WANDB_API_KEY", _hex, "{}", True),
    "OpenAI": ("OPENAI_API_KEY", lambda s: f"sk-proj-{_letters(s, 40)}", "{}", True),
    "Anthropic": ("ANTHROPIC_API_KEY", lambda s: f"sk-ant-api03-{_letters(s, 60)}", "{}", True),
    "Mistral": ("MISTRAL_API_KEY", lambda s: _letters(s, 32), "{}", True),
    "Cohere": ("CO_API_KEY", lambda s: _letters(s, 40), "{}", True),
    "Groq": ("GROQ_API_KEY", lambda s: f"gsk_{_letters(s, 50)}", "{}", True),
    "Replicate": ("REPLICATE_API_TOKEN", lambda s: f"r8_{_letters(s, 37)}", "{}", True),
    "NVIDIA": ("NGC_API_KEY", lambda s: f"nvapi-{_letters(s, 60)}", "{}", True),
    "GitHub": ("GIT_AUTH", lambda s: f"ghp_{_letters(s, 36)}", "{}", True),
    "GitLab": ("CI_JOB", lambda s: f"glpat-{_letters(s, 20)}", "{}", True),
    "Vault": ("VAULT_ADDR_AND", lambda s: f"hvs.{_letters(s, 90)}", "{}", True),
    "Slack webhook": (
        "ALERTS",
        lambda s: _letters(s, 24),
        "https://hooks.slack.com/services/T0AB1CD2E/B0AB1CD2E/{}",
        True,
    ),
    "Discord webhook": (
        "NOTIFY",
        lambda s: _letters(s, 68),
        "https://discord.com/api/webhooks/123456789012345678/{}",
        True,
    ),
    "Teams webhook": ("TEAMS", _hex, "https://acme.webhook.office.com/webhookb2/a@b/IncomingWebhook/{}", True),
    "address with user": ("MODEL_MIRROR", _word, "https://reader:{}@models.example.com/m.gguf", True),
    "address with token": ("WEIGHTS", lambda s: _letters(s, 24), "https://{}@models.example.com/m.gguf", True),
    "query token": ("SOURCE", lambda s: _letters(s, 30), "https://models.example.com/m.gguf?token={}", True),
    "signed address": ("PRESIGNED", lambda s: _hex(s, 64), "https://b.s3.amazonaws.com/m?X-Amz-Signature={}", True),
    "DSN": ("DATABASE_URL", _word, "postgresql://svc:{}@db.internal:5432/app", True),
    "MongoDB": ("MONGO", _word, "mongodb+srv://svc:{}@cluster0.example.net/app", True),
    "AMQP": ("BROKER", _word, "amqp://svc:{}@mq:5672/", True),
    "ADO string": ("CONNECTION", _word, "Server=db;Database=app;User Id=svc;Password={};", False),
    "Azure storage": ("STORE", lambda s: f"{_letters(s, 86)}==", "AccountName=a;AccountKey={};", True),
    "base64": ("BASIC", _encoded, "{}", True),
    "Basic header": ("UPSTREAM_HEADER", _encoded, "Authorization: Basic {}", True),
    "OTLP headers": ("OTEL_EXPORTER_OTLP_HEADERS", lambda s: _letters(s, 32), "api-key={}", True),
    "JWT": ("SESSION", lambda s: f"eyJ{_letters(s, 20)}.eyJ{_letters(s, 40)}.{_letters(s, 43)}", "{}", True),
    "camelCase secret": ("webhookSecret", _word, "{}", False),
    "camelCase token": ("botToken", _word, "{}", False),
    "camelCase key": ("signingKey", _word, "{}", False),
    "PEM": ("TLS", lambda s: _letters(s, 64), "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----", True),
    "PGP": (
        "PGP",
        lambda s: _letters(s, 64),
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{}\n-----END PGP PRIVATE KEY BLOCK-----",
        True,
    ),
    "PuTTY": (
        "PPK",
        lambda s: _letters(s, 64),
        "PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\n{}\nPrivate-MAC: 0a",
        True,
    ),
    "JSON": ("CONFIG", _word, '{{"store": {{"access": "{}"}}}}', False),
    "phrase": ("UNLOCK", lambda s: f"{_word(s)} {_word(s)}", "{}", False),
}


def planted_secrets(number: int, seed: int = 43) -> Iterator[PlantedSecret]:
    """Yield secrets of all kinds in turn, each with another value."""
    source = random.Random(seed)
    kinds = list(KINDS.items())
    for index in range(number):
        kind, (name, generate, template, is_random) = kinds[index % len(kinds)]
        secret = generate(source)
        number_of_kind = index // len(kinds)
        yield PlantedSecret(
            kind=f"{kind} {number_of_kind}",
            name=f"{name}_{number_of_kind}" if number_of_kind and name.isupper() else name,
            value=template.format(secret),
            secret=secret,
            is_random=is_random,
        )
