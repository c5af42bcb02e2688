"""Exposure: what the ranks of several rankings give to groups of documents."""
