"""Rules across fields: those of Kthena's CRDs, and of webhooks that upstream never registers."""
