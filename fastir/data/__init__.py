"""The nouns: what is handed from one call to the next.

qrels            Qrels, and its kinds: judgments in groups, preferences, samples
qrels_columns    what fastir reads of them, `Qrels.columns`
run              Run: rankings with scores
rankings         JudgedRankings: the ranks and labels of judged documents, without ids
rankings_values  their values under checked options
results          Results and what else an evaluation returns
"""
