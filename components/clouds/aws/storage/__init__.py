"""Where weights are kept on AWS: file systems and buckets, as volumes of Kubernetes."""
