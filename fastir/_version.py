"""The version of fastir, which the package, its settings and comparisons name."""

__version__ = "0.1.0"
