"""Carrying a plan out: what is applied, waited for and deleted in the clusters."""
