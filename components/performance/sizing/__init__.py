"""How many replicas of which accelerator a service level needs, and what they cost: a model of queues."""
