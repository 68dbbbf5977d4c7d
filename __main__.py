"""What `pulumi up` runs: one environment, as Pulumi.<stack>.yaml describes it."""

from stacks.program import run

run()
