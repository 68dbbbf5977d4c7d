"""What `pulumi up` runs: one environment, as Pulumi.<stack>.yaml describes it."""

from inference_platform.stacks.program import run

run()
