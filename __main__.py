"""What `pulumi up` runs: one environment, as Pulumi.<stack>.yaml describes it."""

from stacks.environment import deploy
from stacks.settings import read

deploy(read())
