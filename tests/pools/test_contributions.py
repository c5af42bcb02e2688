"""contributions(): what each run or team found, alone and with others."""

import pytest
from pooled_runs import made

import fastir


def top(ranking, depth):
    """The first documents under trec_eval's rule of ties."""
    return sorted(ranking, key=lambda doc_id: (ranking[doc_id], doc_id), reverse=True)[:depth]


@pytest.mark.parametrize("depth", [3, None])
@pytest.mark.parametrize("with_teams", [False, True])
def test_contributions_count_what_each_team_has(depth, with_teams):
    qrels, runs = made(seed=1)
    teams = {name: f"team{place // 2}" for place, name in enumerate(runs)} if with_teams else None
    result = fastir.contributions(qrels, runs, teams=teams, pool_depth=depth)
    of = teams or {name: name for name in runs}
    has = {team: set() for team in of.values()}
    for name, run in runs.items():
        has[of[name]] |= {(q, d) for q, ranking in run.items() for d in top(ranking, depth)}
    judged = {(q, d): label for q, own in qrels.items() for d, label in own.items() if label >= 0}
    for team, share in result.teams.items():
        others = set().union(*(own for other, own in has.items() if other != team))
        found = has[team] & judged.keys()
        assert share.judged == len(found) and share.only_judged == len(found - others)
        assert share.relevant == sum(judged[pair] > 0 for pair in found)
        assert share.only_relevant == sum(judged[pair] > 0 for pair in found - others)
    everyone = set().union(*has.values())
    assert result.judged == len(result) == len(judged)
    assert result.nobody_judged == len(judged.keys() - everyone)
    assert {(q, d): label for q, d, label, _ in result} == judged


def test_a_series_has_the_teams():
    pandas = pytest.importorskip("pandas")
    qrels, runs = made()
    teams = {name: f"team{place // 2}" for place, name in enumerate(runs)}
    found = fastir.contributions(qrels, runs, teams=pandas.Series(teams))
    assert found == fastir.contributions(qrels, runs, teams=teams)


RUNS = {"a": {"q": {"x": 3.0, "y": 2.0, "z": 1.0}, "p": {"v": 1.0}}, "b": {}, "c": {"p": {"v": 2.0}}}
QRELS = {"q": {"x": 1, "y": 2, "z": 3, "w": 2}, "p": {"v": 2, "u": 1}}


def test_contributions_count_from_the_level_of_relevance_on():
    found = fastir.contributions(QRELS, RUNS, rel_level=2)
    assert (found.judged, found.relevant, found.nobody_judged, found.nobody_relevant) == (6, 4, 2, 1)
    assert found.teams == {"a": (4, 3, 3, 2), "b": (0, 0, 0, 0), "c": (1, 1, 0, 0)}


def test_contributions_to_groups_count_the_largest_label_of_a_document():
    groups = {"q": {"1": {"x": 0, "y": 1}, "2": {"x": 2, "z": -1}}}
    found = fastir.contributions(groups, {"a": {"q": {"x": 1.0, "z": 0.5}}})
    assert {row.doc_id: row.label for row in found} == {"x": 2, "y": 1}
    assert found.teams == {"a": (1, 1, 1, 1)} and found.nobody_relevant == 1


def test_contributions_are_a_table_whose_first_column_is_text():
    found = fastir.contributions(QRELS, RUNS, rel_level=2)
    rows = [line.split() for line in found.to_table().splitlines()[1:4]]
    assert rows == [["a", "4", "3", "3", "2"], ["b", "0", "0", "0", "0"], ["c", "1", "1", "0", "0"]]
    assert found.to_table("markdown").splitlines()[1] == "| :--- | ---: | ---: | ---: | ---: |"


def test_relevance_of_real_labels_begins_at_a_number():
    qrels = {"q": {"a": 0.92, "b": 0.5, "c": 0.25, "d": 0, "e": -1}}
    runs = {"x": {"q": {"a": 3.0, "c": 2.0}}, "y": {"q": {"b": 3.0, "c": 2.0, "e": 1.0}}}
    found = fastir.contributions(qrels, runs, rel_level=0.5)
    assert found.teams == {"x": (2, 1, 1, 1), "y": (2, 1, 1, 1)}
    assert (found.judged, found.relevant, found.nobody_judged, found.nobody_relevant) == (4, 2, 1, 0)
    assert [(row.doc_id, row.label) for row in found] == [("a", 0.92), ("b", 0.5), ("c", 0.25), ("d", 0.0)]
    with pytest.raises(ValueError, match=r"^rel_level must be a number above 0 and at most 2147483647, got 0\.0$"):
        fastir.contributions(qrels, runs, rel_level=0.0)
