"""Secrets and lookalikes: what every command must hide, and what it must print as it was written.

Chosen from what people write into pods, scripts and settings (curl's, redis', docker's and MinIO's own manuals, the
signed addresses of S3, Azure and Google, netrc, npmrc and kubeconfig files, GGUF's and Hugging Face's names for
tokens of text), and never from what this project takes for a secret.
"""

import json
from dataclasses import dataclass
from typing import Any

S = "hunter2zanzibar"
"""A secret without a form of its own."""
D = "Zan7zi-Bar9_x"
PHRASE = "correct horse battery staple"


@dataclass(frozen=True)
class Case:
    """A text or structure as it stands in a manifest, and the secrets in it."""

    label: str
    value: Any
    secrets: tuple[str, ...] = (S,)


def script(text: str) -> list[str]:
    return ["sh", "-c", text]


SCRIPTS = {
    "a header without quotes": f"curl -X POST -H X-Api-Key:{S} http://localhost:8080/drain",
    "a header with an escaped space": f"curl -H Authorization:\\ Bearer\\ {S} http://localhost",
    "a header in quotes": f'curl -H "X-Drain-Token: {S}" http://localhost',
    "a header in single quotes": f"curl --header 'Authorization: {S}' http://localhost",
    "a header after an equals sign": f"wget --header=X-Auth-Token:{S} http://localhost",
    "a header of wget": f'wget --header "PRIVATE-TOKEN: {S}" http://localhost',
    "a bearer": f'curl -H "Authorization: Bearer {S}" http://localhost',
    "basic authentication": 'curl -H "Authorization: Basic aHVudGVyMjp6YW56aWJhcg==" http://localhost',
    "a cookie header": f'curl -H "Cookie: session={S}" http://localhost',
    "curl -u": f"curl -u me:{S} http://localhost",
    "curl -u in quotes": f"curl -s -u 'me:{S}' http://localhost",
    "curl -u without a space": f"curl -ume:{S} http://localhost",
    "curl -u among other flags": f"curl -sSfu me:{S} http://localhost",
    "a header among other flags": f"curl -sSfH X-Auth-Token:{S} http://localhost",
    "Python's environment": f'python3 -c \'import os; os.environ["HF_TOKEN"] = "{S}"\'',
    "Python's environment, by a function": f'python3 -c \'import os; os.putenv("HF_TOKEN", "{D}")\'',
    "a constant of JavaScript": f"node -e 'const token = \"{S}\";'",
    "curl --user": f"curl --user me:{S} http://localhost",
    "curl --user=": f"curl --user=me:{S} http://localhost",
    "curl -u on the next line": f"curl \\\n  --fail \\\n  -u me:{S} \\\n  http://localhost",
    "curl with a path": f"exec /usr/bin/curl -u me:{S} http://localhost",
    "a proxy's user": f"curl -x http://proxy -U me:{S} http://localhost",
    "an OAuth bearer of curl": f"curl --oauth2-bearer {S} http://localhost",
    "a cookie of curl": f"curl -b session={S} http://localhost",
    "a form": f"curl -d token={S} http://localhost",
    "JSON in quotes": f"""curl -d '{{"token":"{S}"}}' http://localhost""",
    "JSON with escapes": f'curl -d "{{\\"api_key\\":\\"{S}\\"}}" http://localhost',
    "an address with a token": f"curl https://models.example.com/m.gguf?token={S}",
    "an address with a key": f"curl 'https://example.com/v1?alt=media&key={D}'",
    "a signature of S3": f"curl 'https://b.s3.amazonaws.com/m?X-Amz-Expires=60&X-Amz-Signature={S}'",
    "a signature of Azure": f"curl 'https://a.blob.core.windows.net/c/m?sv=2022-11-02&sig={S}'",
    "a signature of Google": f"curl 'https://storage.googleapis.com/b/m?X-Goog-Signature={S}'",
    "a password in an address": f"git clone https://me:{S}@git.example.com/r.git",
    "a token in an address": f"git clone https://{D}@git.example.com/r.git",
    "a variable": f"HF_TOKEN={S} exec serve",
    "an exported variable": f'export HF_TOKEN="{S}"; exec serve',
    "a variable with a comma": f"export API_KEYS={S},{D}",
    "a variable in two pieces": f"export DB_PASSWORD=abc'{S}'",
    "a default": f"export HF_TOKEN=${{HF_TOKEN:-{S}}}",
    "what echo prints": f"export HF_TOKEN=$(echo {S})",
    "a flag": f"serve --api-key {S} --port 8000",
    "a flag with an equals sign": f"serve --api-key={S} --port 8000",
    "redis-cli": f"redis-cli -h cache -a {S} ping",
    "sshpass": f"sshpass -p {S} ssh host",
    "mysql": f"mysql -u root -p{S} -e 'select 1'",
    "docker login": f"docker login -u me -p {S} registry.example.com",
    "mc": f"mc alias set store http://minio:9000 ADMIN {S}",
    "aws configure": f"aws configure set aws_secret_access_key {S}",
    "a secret from literals": f"kubectl create secret generic s --from-literal=password={S}",
    "huggingface-cli": f"huggingface-cli login --token {S}",
    "a PASS variable": f"REDIS_PASS={S} exec serve",
    "netrc": f"echo 'machine example.com login me password {S}' > ~/.netrc",
}
FILES = {
    "YAML": f"server:\n  port: 8080\n  token: {S}\n",
    "YAML at the start": f"token: {S}",
    "YAML, a phrase": f"user: me\npassword: {PHRASE}\n",
    "YAML, in quotes": f"apiKey: '{S}'\n",
    "YAML, a block": f"token: |\n  {S}\nport: 1\n",
    "YAML, folded": f"clientSecret: >-\n  {S}\n",
    "YAML, in one line": f"{{token: {S}, port: 1}}",
    "YAML, a list": f"users:\n- name: a\n  token: {S}\n",
    "YAML, a comment": f"token: {S}  # of the hub\n",
    "YAML, a map": f"token:\n  value: {S}\n",
    "a Secret in YAML": f"apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\nstringData:\n  a: {S}\n",
    "a Secret in JSON": json.dumps({"kind": "Secret", "data": {"a": S}}),
    "JSON": json.dumps({"hub": {"token": S}}),
    "JSON with spaces": json.dumps({"hub": [{"apiKey": S}]}, indent=2),
    "JSON with escapes": json.dumps({"password": f'{S}"x\\'}),
    "dockerconfigjson": json.dumps({"auths": {"ghcr.io": {"username": "me", "auth": D}}}),
    "properties": f"port=80\ndb.password={S}\n",
    "properties with spaces": f"port = 80\npassword = {S}\n",
    "TOML": f'port = 80\napi_token = "{S}"\n',
    "INI": f"[hub]\nsecret_key = {S}\n",
    "an .env file": f"A=b\nHF_TOKEN={S}\n",
    "an .npmrc file": f"//registry.example.com/:_authToken={S}\n",
    "a .netrc file": f"machine example.com\nlogin me\npassword {S}\n",
    "a kubeconfig": f"users:\n- name: a\n  user:\n    client-key-data: {S}\n",
    "redis.conf": f"port 6379\nrequirepass {S}\n",
    "XML": f"<server><password>{S}</password></server>",
    "a header of nginx": f"proxy_set_header X-Api-Key {S};",
    "a connection string of Azure": f"DefaultEndpointsProtocol=https;AccountName=a;AccountKey={S}==;",
    "a private key": f"-----BEGIN PRIVATE KEY-----\n{S}\n-----END PRIVATE KEY-----\n",
}
APPLIED = json.dumps(
    {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "s", "annotations": {}},
        "stringData": {"plain": S},
        "data": {"other": D},
    }
)
STRUCTURES: dict[str, Any] = {
    "a variable": {"env": [{"name": "HF_TOKEN", "value": S}]},
    "a variable with a map": {"env": [{"name": "HF_TOKEN", "value": {"secure": S}}]},
    "a variable with a map of one key": {"env": [{"name": "HF_TOKEN", "value": {S: None}}]},
    "a variable with a list": {"env": [{"name": "HF_TOKEN", "value": [S]}]},
    "a map in the place of a text": {"token": {"inner": {"deep": S}}},
    "a header of a probe": {"httpGet": {"httpHeaders": [{"name": "Authorization", "value": S}]}},
    "another header of a probe": {"httpGet": {"httpHeaders": [{"name": "X-Api-Key", "value": S}]}},
    "a flag": {"args": ["--api-key", S]},
    "a flag with an equals sign": {"args": [f"--api-key={S}"]},
    "a key that signs sessions": {"args": ["--session-key", S]},
    "a variable with a key that signs sessions": {"env": [{"name": "SESSION_KEY", "value": S}]},
    "a header in words": {"command": ["curl", "-H", f"X-Api-Key: {S}", "http://localhost"]},
    "a header in one word": {"command": ["curl", "-H", f"X-Api-Key:{S}", "http://localhost"]},
    "curl -u in words": {"command": ["curl", "-u", f"me:{S}", "http://localhost"]},
    "redis-cli in words": {"command": ["redis-cli", "-a", S, "ping"]},
    "command and arguments": {"command": ["/usr/bin/redis-cli"], "args": ["-a", S, "ping"]},
    "a signed address": {"source": f"https://b.s3.amazonaws.com/m.gguf?X-Amz-Signature={S}"},
    "an address with a token": {"source": f"https://example.com/m.gguf?token={S}"},
    "the last applied configuration": {
        "metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": APPLIED}}
    },
    "an annotation": {"metadata": {"annotations": {"example.com/api-token": S}}},
    "a label": {"metadata": {"labels": {"example.com/api-token": S}}},
    "a chart's value": {"set": [{"name": "hub.token", "value": S}]},
    "a database": {"env": [{"name": "DATABASE_URL", "value": f"postgres://me:{S}@db:5432/x"}]},
    "a key that is a secret": {"labels": {"hf_" + "aB3" * 11: "1"}},
}


def _found(value: Any) -> tuple[str, ...]:
    text = json.dumps(value)
    known = (S, D, PHRASE, "aHVudGVyMjp6YW56aWJhcg", "aB3aB3")
    return tuple(each for each in known if each in text)


SECRETS = [
    *(Case(f"script: {label}", script(text), _found(text)) for label, text in SCRIPTS.items()),
    *(Case(f"file: {label}", {"data": {"file": text}}, _found(text)) for label, text in FILES.items()),
    *(Case(label, value, _found(value)) for label, value in STRUCTURES.items()),
]

TOKENS_OF_TEXT = (
    *("tokenizer.ggml.add_bos_token", "tokenizer.ggml.add_eos_token", "tokenizer.ggml.pad_token", "pad_token"),
    *("bos_token", "eos_token", "unk_token", "sep_token", "cls_token", "mask_token", "image_token", "video_token"),
    *("stop_token", "--stop-token", "fim_prefix_token", "boi_token", "decoder_start_token", "max_token"),
    *("cost_per_token", "time_per_output_token", "--bucket-time-to-first-token", "input_token", "num_token"),
    *("--kt-max-deferred-experts-per-token", "--max-prompt-adapter-token", "additional_special_token"),
)
OTHER_NAMES = (
    *("SORT_KEY", "--hash-key", "primary_key", "topology_key", "PARTITION_KEY", "SSH_PUBLIC_KEY", "cache_key"),
    *("bypass", "--second-pass", "num_pass", "compass", "author", "authority", "oauth2Client", "auth"),
    *("cookieName", "hotkey", "tokens", "tokenBudget", "monkey", "keyring", "passthrough", "secretary"),
)
LOOKALIKES: dict[str, Any] = {
    "a GGUF key of its own": {"args": ["--override-kv", "tokenizer.ggml.add_bos_token=bool:false"]},
    "GGUF keys in a script": script("llama-server --override-kv tokenizer.ggml.add_bos_token=bool:false -m m"),
    "a tokenizer's file": {"data": {"tokenizer_config.json": '{"pad_token": "[PAD]", "eos_token": "</s>"}'}},
    "a tokenizer's file in YAML": {"data": {"t.yaml": "pad_token: '[PAD]'\nadd_bos_token: false\n"}},
    "a projected token": {
        "volumes": [{"projected": {"sources": [{"serviceAccountToken": {"path": "token", "audience": "a"}}]}}]
    },
    "a key of a Secret": {"env": [{"name": "T", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}}]},
    "a reference under its name": {"token": {"secretKeyRef": {"name": "hub", "key": "hub-token"}}},
    "a reference in Prometheus": {"authorization": {"type": "Bearer", "credentials": {"name": "s", "key": "k"}}},
    "a schema": {"properties": {"token": {"type": "string", "description": "The token of the hub, as text."}}},
    "a schema in YAML": {"data": {"schema.yaml": "properties:\n  token:\n    type: string\n"}},
    "a toleration": {"tolerations": [{"key": "example.com/team-token", "operator": "Equal", "value": "blue"}]},
    "an image": {"image": "registry.example.com/llm/my-token:1.0"},
    "an image, short": {"image": "my-token:v1.2.3"},
    "an image of a Secret": {"image": "external-secret:latest"},
    "a token from a file": script("HF_TOKEN=$(cat /run/secrets/token) exec serve"),
    "a token from a file, quoted": script('export HF_TOKEN="$(cat /run/secrets/token)"; exec serve'),
    "a token from a file, with backticks": script("export HF_TOKEN=`cat /run/secrets/token`; exec serve"),
    "a token handed on": script('exec serve --api-key "$API_KEY" --port 8000'),
    "a token handed on with a check": script('exec serve --api-key "${API_KEY:?is not set}"'),
    "an empty default": script('exec serve --hf-token "${HF_TOKEN:-}"'),
    "a parameter": script('exec serve --api-key "$1"'),
    "a check of a variable": script('[ -n "$HF_TOKEN" ] || { echo "HF_TOKEN: is not set" >&2; exit 1; }'),
    "a comparison": script('if [ "$HF_TOKEN" = "" ]; then exit 1; fi'),
    "a comparison in Python": script('python3 -c "assert token == expected"'),
    "names of headers": {"data": {"cors.yaml": 'allow: ["Authorization", "Content-Type", "X-Api-Key", "Accept"]'}},
    "curl with a user alone": script("curl -u me http://localhost"),
    "curl with variables": script('curl -u "$USER:$PASSWORD" http://localhost'),
    "curl with a header from a variable": script('curl -H "Authorization: Bearer $HF_TOKEN" http://localhost'),
    "curl with another header": script("curl -H Content-Type:application/json -H 'Accept: text/plain' localhost"),
    "curl with a file": script("curl --cookie cookies.txt --key /etc/tls/tls.key https://localhost"),
    "ports of a container": script("docker run -p 8080:80 -p 127.0.0.1:9090:90 image"),
    "the port of a database": script("mysql -h db -P 3306 -u root"),
    "a directory": script("mkdir -p /models && cp -p a b"),
    "what a sentence says": {"metadata": {"annotations": {"note": "token: is required; see the key to success"}}},
    "what a list of headers says": {"allowHeaders": ["Authorization", "X-Api-Key", "Cookie"]},
    "an address of a token": {"env": [{"name": "TOKEN_URL", "value": "https://auth.example.com/token"}]},
    "an address with parameters": {"source": "https://example.com/m.gguf?download=true&revision=main"},
    "an address with a key of an object": {"source": "https://example.com/list?key=models/a.gguf"},
    "an address of Git over SSH": {"source": "ssh://git@github.com/org/repo"},
    "a model at a revision": {"source": "hf://org/model@main"},
    "a count": {"env": [{"name": "MAX_TOKENS", "value": "4096"}, {"name": "COST_PER_TOKEN", "value": "0.0001"}]},
    "a count of tokens": {"rate": {"token": 100}},
    "a placeholder": {"env": [{"name": "OPENAI_API_KEY", "value": "<your key>"}]},
    "no key": {"env": [{"name": "OPENAI_API_KEY", "value": "sk-no-key-required"}]},
    "a template": {"args": ["--api-key", "{{ .Values.apiKey }}"]},
    "a secret of a workflow": {"env": {"GITHUB_TOKEN": "${{ secrets.GITHUB_TOKEN }}"}},
    "an empty Secret": {"kind": "Secret", "metadata": {"name": "s"}, "stringData": {"password": ""}},
    "a switch": {"automountServiceAccountToken": False, "args": ["--cors-credentials", "--port", "80"]},
    "the name of a Secret": {"secretName": "hub-token", "imagePullSecrets": [{"name": "pull-secret"}]},
    "last applied, of a ConfigMap": {
        "metadata": {
            "annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": json.dumps(
                    {"kind": "ConfigMap", "data": {"pad_token": "[PAD]"}}
                )
            }
        }
    },
    "a mark of a proxy": {"env": [{"name": "C", "value": "%DYNAMIC_METADATA(io.envoy.ai_gateway:llm_input_token)%"}]},
    # vllm-project/production-stack, helm/templates/deployment-router.yaml
    "the header of a session": {"args": ["--session-key", "x-user-id"]},
    "another header of a session": {"args": ["--routing-logic", "session", "--session-key=session_id"]},
    "the header of a session in a script": script("vllm-router --session-key x-user-id --port 80"),
    "rules by a header": {"matches": [{"headers": [{"name": "x-session-token", "type": "Exact"}]}]},
    "a certificate": {"data": {"ca": "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"}},
    **{f"the name {name}": {name: "blue7Green"} for name in (*TOKENS_OF_TEXT, *OTHER_NAMES)},
    **{f"the variable {name}": {"env": [{"name": name, "value": "blue7Green"}]} for name in TOKENS_OF_TEXT},
    **{f"the flag {name}": {"args": [name, "5"]} for name in TOKENS_OF_TEXT if name.startswith("-")},
    **{f"assigned: {name}": script(f"serve {name}=blue7Green") for name in (*TOKENS_OF_TEXT, *OTHER_NAMES)},
}
