"""Curves over the ranks of a run: precision_recall_curve() and roc_curve(). And over its certainty: risk_coverage()."""
