"""Node groups and Karpenter pools on AWS: computed and checked before any is paid for."""
