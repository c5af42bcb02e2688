"""One file per shape that a caller may bring."""
