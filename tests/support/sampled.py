"""Files of samples, and what the programs print for them."""

import fastir

STRATA = """\
1 0 a 1 3
1 0 b 1 0
1 0 c 1 1
1 0 d 2 1
1 0 e 2 0
1 0 f 2 -1
1 0 g 2 -1
1 0 h 2 2
1 0 i 10 0
1 0 j 10 1
1 0 k 10 -1
1 0 l 10 -1
1 0 m 10 -1
1 0 n 11 -1
2 0 a 1 0
2 0 b 1 0
2 0 c 2 -1
3 0 a 1 1
3 0 b 2 2
3 0 c 2 -1
3 0 d 2 -1
4 0 a 1 1
"""
RUN = """\
1 Q0 f 1 9 t
1 Q0 a 2 8 t
1 Q0 z 3 7 t
1 Q0 d 4 6 t
1 Q0 i 5 6 t
1 Q0 j 6 5.5 t
1 Q0 b 7 5 t
1 Q0 k 8 4 t
1 Q0 n 9 3 t
1 Q0 c 10 2 t
2 Q0 c 1 2 t
2 Q0 a 2 1 t
3 Q0 d 1 3 t
3 Q0 a 2 2 t
3 Q0 x 3 1 t
"""
PRELS = """\
1 a 1 1 0.8
1 b 2 1 0.25
1 c 0 1 0.5
1 d 1 0 0.1
1 e 1 2 0.3
1 f 0 0 1
1 g 3 4 0.125
1 h -999 1 0.9
1 i 1 1 NA
1 j 1 1 0.4
2 a 0 1 0.5
2 b 0 1 0.25
3 a 1 0 1
3 b 0 0 1
4 a 1 1 0.5
4 b 0 1 0.75
4 c 1 1 1
"""
PRELS_RUN = """\
1 Q0 c 1 9 t
1 Q0 b 2 8 t
1 Q0 z 3 7 t
1 Q0 a 4 6 t
1 Q0 h 5 5.5 t
1 Q0 i 6 5.25 t
1 Q0 d 7 5 t
1 Q0 f 8 4 t
1 Q0 x 9 3.5 t
1 Q0 y 10 3 t
1 Q0 j 11 2 t
2 Q0 a 1 2 t
3 Q0 a 1 3 t
4 Q0 c 1 3 t
4 Q0 b 2 2 t
4 Q0 a 3 1 t
"""


def drawn(draws, ranking, metrics, **options):
    """The values of the metrics, of a query for each draw."""
    labels = {query: dict(zip(docs, numbers, strict=True)) for query, (docs, numbers, _) in draws.items()}
    beside = {query: dict(zip(*last, strict=True)) for query, (_, _, last) in draws.items()}
    qrels = fastir.Qrels.from_dict(labels, **{options["kind"]: beside})
    results = fastir.evaluate(qrels, dict.fromkeys(draws, ranking), metrics)
    return dict(zip(metrics, results.values.T, strict=True))


def evidence(card, qrels, level):
    """The relevant documents of each query as two sets, or hops, of evidence; "none" where there are none."""
    members = {query: [doc for doc, label in docs.items() if label >= level] for query, docs in qrels.items()}
    make = {"sets": fastir.Qrels.from_sets, "hops": fastir.Qrels.from_hops}[card.sampled]
    return make({query: [*filter(None, (docs[:2], docs[2:]))] or [["none"]] for query, docs in members.items()})
