"""Settings are searched only where they change something."""

from fastir.analyses.identify.settings import (
    PUBLISHED,
    DataProperties,
    Setting,
    departures,
    list_settings,
    paper_settings,
)

PLAIN = DataProperties(True, False, False, False, 1, 5, frozenset())
FULL = DataProperties(False, True, True, False, 3, 2000, frozenset(("float64", "float32")))


def test_data_decide_which_departures_there_are():
    names = {name for name, _ in departures(PLAIN)}
    assert names == {"gain", "ideal", "empty", "average"}
    assert {name for name, _ in departures(FULL)} == names | {
        *("queries", "ties", "rel_level", "max_depth", "duplicates", "exclude", "score_dtype")
    }


def test_a_departure_that_changes_no_metric_is_not_a_setting():
    settings = [setting for setting, _ in list_settings("fastir", ["map"], PLAIN)]
    assert {name for setting in settings for name, _ in setting.options} == {"empty"}
    assert settings[0] == Setting("fastir", ()) and str(settings[0]) == "fastir"
    assert all(len(setting.options) <= 2 for setting in settings)


def test_published_definitions_have_names_and_sources():
    assert all(each.name and each.about and each.source for each in PUBLISHED)
    assert next(setting.label for setting in paper_settings(0)) == "NGCF"
    assert {setting.options[-1] for setting in paper_settings(20) if setting.label == "NGCF"} == {
        ("max_depth", 20), ("max_depth", 100),
    }  # fmt: skip
