"""The version of fastir; a file of its own, so that no module below the package's root imports the root for it."""

__version__ = "0.1.0"
