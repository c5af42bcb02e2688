"""Evaluations that put several of `runs` together: metrics whose rules differ, and judgments of other kinds."""
