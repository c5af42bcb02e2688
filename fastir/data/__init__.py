"""The nouns: the objects that calls take and return.

qrels     Qrels, and its kinds: judgments in groups, preferences, samples
run       Run: rankings with scores
rankings  JudgedRankings: the ranks and labels of judged documents, without ids, and their values
results   Results and the other objects that an evaluation returns
"""
