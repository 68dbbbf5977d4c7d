"""Karpenter's pools: what an environment says about them, and one for pods that name no instance type."""
