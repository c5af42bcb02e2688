"""Long rankings with unjudged documents, and the values of their labelings."""

import random

import fastir


def long_case(seed, n, share=0.3, most=3):
    random_ = random.Random(seed)
    ranking = {f"d{i}": -float(i) for i in range(n)}
    labels = {doc: random_.choice([0, 1, random_.randint(0, most)]) for doc in ranking if random_.random() < share}
    return labels | {f"u{i}": random_.randint(0, most) for i in range(random_.randint(0, 6))}, ranking


def of_labelings(labels, ranking, metrics, labelings):
    """The values of labelings, each a dict of labels of unjudged documents."""
    qrels = {str(i): {**labels, **labeling} for i, labeling in enumerate(labelings)}
    return fastir.evaluate(qrels, dict.fromkeys(qrels, ranking), metrics).values
