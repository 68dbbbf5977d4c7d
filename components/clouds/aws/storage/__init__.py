"""Storage for weights on AWS: file systems and buckets as Kubernetes volumes."""
