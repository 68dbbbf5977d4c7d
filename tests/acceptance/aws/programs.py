"""Stand-ins for pulumi, aws and kubectl, which the test on AWS runs; none reaches anything.

``pulumi`` is the recording stand-in, with an address among its outputs; it runs the program only with ``program``.
``kubectl`` answers from the project that it is run in: an edited model has a new generation.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

URL = "http://internal-k8s-gateway-0123.elb.us-east-1.amazonaws.com/v1"
LOGS = {
    "call": {"completed": 1},
    "call-without-key": {"status 401": 1},
    "call-after-edit": {"completed": 1},
    "roll": {"completed": 5120},
}


def pulumi() -> None:
    from tests.acceptance import stand_in

    if not settings().get("program"):
        stand_in.run_program = lambda *_: ([{"urn": "urn:stack", "custom": False, "type": "", "inputs": {}}], {})
    if sys.argv[1:3] == ["stack", "output"]:
        sys.stdout.write(json.dumps({"endpoints": {"chat": {"url": URL}}}))
    elif failing("pulumi") == sys.argv[1]:
        sys.exit("error: 1 error occurred: account 123456789012 has no capacity in vpc-0123456789abcdef0")
    else:
        stand_in.main()


def aws() -> None:
    record("aws")
    if "update-kubeconfig" in sys.argv:
        Path(sys.argv[sys.argv.index("--kubeconfig") + 1]).write_text("{}")
    else:
        sys.stdout.write("aws-cli/2.31.0 Python/3.13.7\n")


def kubectl() -> None:
    words = sys.argv[1:]
    record("kubectl", sys.stdin.read() if "apply" in words else "")
    if failing("kubectl") in words:
        sys.exit("error: timed out waiting for the condition")
    if "deployments" in words:
        sys.stdout.write(json.dumps({"items": list(deployments())}))
    elif "logs" in words:
        job = next(word for word in words if word.startswith("job/")).removeprefix("job/")
        sys.stdout.write(json.dumps({**LOGS, **settings().get("logs", {})}[job]))
    elif "version" in words:
        sys.stdout.write("Client Version: v1.35.2\n")


def deployments() -> Any:
    edited = "8192" in Path("models/chat.yaml").read_text()
    for name in ("models/chat", "kube-system/aws-load-balancer-controller", *settings().get("also", [])):
        namespace, _, own = name.partition("/")
        changes = edited and name in settings().get("changed", ["models/chat"])
        metadata = {"namespace": namespace, "name": own, "generation": 1 + changes}
        yield {"metadata": metadata, "status": {"readyReplicas": 1}}


def settings() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(os.environ.get("PROGRAMS", "{}"))
    return content


def failing(program: str) -> str:
    """Return the word of a command line of the program that fails."""
    return str(settings().get("failing", {}).get(program, ""))


def record(program: str, stdin: str = "") -> None:
    with Path(os.environ["STAND_IN_LOG"]).open("a") as log:
        log.write(json.dumps({"words": [program, *sys.argv[1:]], "stdin": stdin}) + "\n")
