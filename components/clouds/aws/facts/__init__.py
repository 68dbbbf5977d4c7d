"""Facts about AWS as data, each with a typed reader."""
