"""Judges in parts with many documents that are not relevant, in any order, with integer ids, and with parts left empty.

The numbers of PRINTED are those that trec_eval 10 printed for the same judgments and rankings (-R prefs).
"""
# Also of: tasks.

import random

import numpy as np
import pytest

import fastir
from fastir.inputs import preferences
from fastir.request.names import NICKNAMES

METRICS = NICKNAMES["all_prefs"].split()
pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")  # rankings without a judged document
JUDGES = {
    "q1": {
        "zoe": {"1": {"b": 2, "c": 0, "d": 0, "e": 0, "f": 0}, "2": {"a": 0, "b": 2, "c": 0, "d": 0, "f": 0}},
        "ann": {"1": {"b": 1, "c": 2, "e": 0, "f": 0}, "2": {"a": 0, "b": 1, "c": 2, "e": 0, "f": 0}},
    },
    "q2": {
        "zoe": {
            "1": {"a": 1, "b": 2, "c": 0, "d": 1, "e": 0, "f": 0},
            "2": {"b": 2, "c": 0, "d": 1, "e": 0, "f": 0, "g": 0},
        },
        "ann": {"1": {"a": 1, "d": 0, "e": 1, "f": 0, "g": 1}, "2": {"a": 1, "b": 0, "d": 0, "f": 0, "g": 1}},
    },
}
RUN = {"q1": {"y": 4, "b": 4, "f": 4, "d": 2, "c": 6}, "q2": {"d": 6, "b": 5, "e": 3, "c": 6, "y": 4}}
PRINTED = {
    "prefs_num_prefs_poss": (12, 21), "prefs_avgjg_Rnonrel": (0.5, 0.2898), "prefs_avgjg_Rnonrel_ret": (0.5, 0.2),
}  # fmt: skip


def measure(judges, run, **options):
    return fastir.evaluate(judges, run, METRICS, ties="doc_id_asc", queries="qrels", **options)


def test_with_as_many_documents_that_are_not_relevant_as_the_program_printed():
    found = measure(JUDGES, RUN)
    for name, values in PRINTED.items():
        assert tuple(round(found.per_query(name)[query], 4) for query in JUDGES) == values


def random_judges(rng, n_docs):
    """Two to four judges, each in two parts, and levels of which most are 0; ids are integers."""
    docs = rng.sample(range(5, 40), n_docs)
    found = {}
    for judge in rng.sample(range(1, 30), rng.randint(2, 4)):
        levels = {doc: rng.choice([0, 0, 0, 1, 2, 3]) for doc in docs}
        chosen = [rng.sample(docs, rng.randint(n_docs // 2, n_docs)) for _ in range(2)]
        found[judge] = {part: {doc: levels[doc] for doc in own} for part, own in enumerate(chosen)}
    return found


def shuffle(mapping, rng):
    if not isinstance(mapping, dict):
        return mapping
    return {key: shuffle(mapping[key], rng) for key in rng.sample(list(mapping), len(mapping))}


@pytest.mark.parametrize("seed", range(20))
def test_the_order_of_judges_parts_and_documents_changes_no_bit(seed):
    rng = random.Random(seed)
    judges = {"q": random_judges(rng, rng.randint(4, 10))}
    run = {"q": {doc: rng.randint(0, 5) for doc in rng.sample(range(5, 40), 20)}}
    found = measure(judges, run).values.tobytes()
    for _ in range(5):
        assert measure(shuffle(judges, rng), run).values.tobytes() == found


@pytest.mark.parametrize("seed", range(20))
def test_ids_that_are_integers_are_their_text(seed):
    """Documents that were not retrieved and judges count in the order of their ids as text, 10 before 9."""
    rng = random.Random(seed)
    judges, run = {}, {}
    for query in range(3):
        judges[query] = random_judges(rng, rng.randint(4, 10))
        run[query] = {doc: rng.randint(0, 5) for doc in rng.sample(range(5, 40), 12)}
    as_text = {
        str(query): {
            str(judge): {str(part): {str(doc): level for doc, level in docs.items()} for part, docs in parts.items()}
            for judge, parts in own.items()
        }
        for query, own in judges.items()
    }
    text_run = {str(query): {str(doc): score for doc, score in docs.items()} for query, docs in run.items()}
    assert measure(judges, run).values.tobytes() == measure(as_text, text_run).values.tobytes()


def test_a_judge_whose_parts_are_empty_has_no_say():
    alone = {"q": {"ann": {"1": {"a": 1, "b": 0}}}}
    found = measure(alone, {"q": ["a", "b"]})
    for more in ({"bob": {}}, {"bob": {"1": {}}}):
        assert measure({"q": {**alone["q"], **more}}, {"q": ["a", "b"]}) == found
    half = {"q": {"ann": {"1": {"a": 1, "b": 0}, "2": {}}}}
    assert measure(half, {"q": ["a", "b"]}) == found


def test_a_level_that_is_text_of_numpy_is_refused():
    with pytest.raises(TypeError, match="level must be a number, got str_ '3'"):
        fastir.Qrels.from_dict({"q": {"ann": {"1": {"a": np.str_("3")}}}})


def test_many_documents_in_two_parts_take_no_cubic_time():
    """The graph in which they are put has about as many edges as the parts have documents."""
    a, b = ({f"d{i}": float(i + 1) for i in numbers} for numbers in (range(2600), range(1300, 4000)))
    below = preferences.levels_below({"a": a, "b": b}, {doc_id: place for place, doc_id in enumerate({**a, **b})})
    assert sum(map(len, below)) < 4 * (len(a) + len(b))
    [order] = preferences.judge_orders("q", {"judge": {"a": a, "b": b}})
    rank = np.array([int(doc_id[1:]) for doc_id in preferences.documents({"judge": {"a": a, "b": b}})])
    np.testing.assert_array_equal(order.beats, rank[:, None] > rank)


def test_what_follows_from_the_parts_is_every_chain_of_them():
    rng, circles = random.Random(4), 0
    for _ in range(300):
        docs = [f"d{i}" for i in range(rng.choice((2, 5, 9)))]
        parts = {
            part: {doc: float(rng.randrange(1, 5)) for doc in rng.sample(docs, rng.randint(1, min(4, len(docs))))}
            for part in range(rng.choice((2, 3, 5)))
        }
        own = sorted(set().union(*parts.values()))
        beats = np.array([[any(p.get(a, 0) > p.get(b, 9) for p in parts.values()) for b in own] for a in own])
        for between in range(len(own)):
            beats |= beats[:, between, None] & beats[between]
        if both := [tuple(pair) for pair in np.argwhere(beats & beats.T) if pair[0] != pair[1]]:
            circles += 1
            first, second = (own[place] for place in both[0])
            with pytest.raises(
                ValueError, match=f"document '{first}' is preferred to '{second}', and that to '{first}'"
            ):
                preferences.judge_orders("q", {"judge": parts})
        else:
            np.testing.assert_array_equal(preferences.judge_orders("q", {"judge": parts})[0].beats, beats)
    assert 30 < circles < 270
