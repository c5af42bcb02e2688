"""Random rankings for the makers: few documents, so that relevant ones are found, missed and repeated."""

import random


def queries(
    seed,
    n=40,
    *,
    grades=(1,),
    longest=12,
    repeats=True,
    empty_rankings=True,
    empty_relevant=True,
    judged_only=False,
    unjudged=(0,),
):
    """Random queries, the same for the same arguments.

    `grades` are the labels of relevant documents. With `judged_only`, as in learning to rank, the ranking holds the
    judged documents and no others, and those that are not relevant have one of the labels `unjudged`.
    """
    rng = random.Random(seed)
    found = []
    for place in range(n):
        if judged_only:
            retrieved = [f"d{i}" for i in range(rng.randint(1, longest))]
            labels = {doc: rng.choice((*grades, *unjudged, *unjudged)) for doc in retrieved}
            if not empty_relevant and max(labels.values()) <= 0:
                labels[rng.choice(retrieved)] = rng.choice(grades)
        else:
            docs = [f"d{i}" for i in range(rng.randint(4, 16))]
            size = rng.randint(1, min(longest, len(docs)))
            retrieved = rng.choices(docs, k=size) if repeats and place % 2 else rng.sample(docs, size)
            labels = {doc: rng.choice(grades) for doc in rng.sample(docs, rng.randint(1, 4))}
            if place % 10 == 4 and empty_rankings:
                retrieved = []
            if place % 10 == 7 and empty_relevant:
                labels = {}
        found.append({"retrieved": retrieved, "relevant": labels})
    return found


def scored(found, seed, levels):
    """These queries with "scores", from the largest down: integers below `levels`, so that some are equal."""
    rng = random.Random(seed)
    for query in found:
        query["scores"] = sorted((rng.randrange(levels) for _ in query["retrieved"]), reverse=True)
    return found
