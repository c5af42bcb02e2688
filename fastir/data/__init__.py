"""The nouns: Qrels, Run, JudgedRankings and, in `results`, what an evaluation returns."""
