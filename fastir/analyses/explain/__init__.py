"""Why a value is what it is, document by document.

In        the qrels, a run, a query and the metrics
Out       Explanation: the ranking with the contribution of each document to each metric; RankingDiff for two of them
Validates that the query is in the qrels; the run is validated as in any evaluation
Allocates lists of records in Python; meant for one query, not for speed
Raises    KeyError for a query or a metric that is not there, ValueError for explanations of two queries, and what
          evaluating the run raises

query              explain(), and explain_conventions(): where two conventions part
query_explanation  one evaluation for each judged document, documents below it unjudged; documents are made when read
ranked             explain_ranked: the same for a bare list of labels, as a table with discounts and running sums
records            Document, Explanation, Move, RankingDiff, and how they print, as tables and as rows of boxes
"""
