"""How fast a replica is: a queue with continuous batching, as simulated engines have it. Pure, without a clock."""
