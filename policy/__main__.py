"""What Pulumi runs for `--policy-pack policy`: a server of the pack, until it is stopped."""

from guardrails.pack import serve

serve()
