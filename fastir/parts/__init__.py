"""Evaluations in parts: states that are merged, wherever the parts are."""
