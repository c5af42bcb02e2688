"""How large a difference is, and which one so many queries could show."""

from scores_by_hand import X, Y, close

from fastir import stats


def test_effect_sizes():
    expected = {
        "glass": 0.4360837524443069, "d_av": 0.3785658488438016, "d_z": 0.4730982873872994, "dominance": 0.25,
        "hedges_g": 0.3710363263433419, "hedges_gz": 0.4541319440138031, "rank_biserial": 0.6,
    }  # fmt: skip
    for kind, value in expected.items():
        assert stats.effect_size(X, Y, kind) == close(value), kind
    assert stats.effect_size(Y, X, "glass") == close(-0.3390887386414955)
    assert stats.effect_size(X, Y, "anova") == close(2**0.5 * expected["d_z"])
    assert stats.hedges_factor(19) == close(0.9599103529242548)
    assert stats.hedges_factor(38) == close(0.9801104021309475)
    assert set(stats.EFFECTS) == {*expected, "anova"}


def test_power():
    assert stats.power(0.4730982873873, 20) == close(0.5193231666173277)
    assert stats.power(0.3, 50) == close(0.547657038970515)
    assert stats.sample_size(0.3) == close(89.14936472, 1e-8)
    assert stats.detectable(20) == close(0.6604416544, 1e-7)
    assert stats.detectable(50) == close(0.4041829997, 1e-7)
    assert stats.detectable(1000) == close(0.0886810183, 1e-4)  # which has a power of .800017
    for n in (3, 20, 1000, 100_000):
        assert stats.power(stats.detectable(n), n) == close(0.8)
    assert stats.power(1.0, 1000) == 1.0  # where SciPy's noncentral t has NaN for the far tail
