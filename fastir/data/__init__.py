"""The nouns: what is handed from one call to the next.

qrels     Qrels, and its kinds: judgments in groups, preferences, samples
run       Run: rankings with scores
rankings  JudgedRankings: the ranks and labels of judged documents, without ids
results   Results and what else an evaluation returns
"""
