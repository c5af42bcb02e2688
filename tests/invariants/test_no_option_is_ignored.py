"""Every option of every public function, picture and reader changes what it gives, or is refused by its name.

The options are those that signatures and TypedDicts show. A call that takes others as **options refuses every further
option of `evaluate` by its name. What an option takes, and the few that change nothing, stand in `option_calls`.
"""

import importlib.util
import inspect

import pytest
from option_calls import CALLS, EXCEPTED, FILES, NOTICED, OVERRIDES, VALUES, also, outcome, problem, taken

import fastir

OWN = {"n_threads", "progress"}  # that change no value
# Functions without options, and those whose arguments are all that they have.
PLAIN = {"load_results", "metric", "metrics", "risk_coverage", "show_config"}


@pytest.fixture(autouse=True)
def _needs_scipy():
    pytest.importorskip("scipy")


def test_every_public_function_has_a_call():
    functions = {name for name in fastir.__all__ if inspect.isfunction(getattr(fastir, name))}
    assert functions - {name.split()[0] for name in CALLS} == PLAIN


def test_every_picture_and_every_way_to_read_and_write_has_a_call():
    public = {f"{kind.__name__}.{name}" for kind in (fastir.Qrels, fastir.Run) for name in dir(kind) if name[0] != "_"}
    ways = {name for name in public if name.partition(".")[2].startswith(("from_", "save", "top"))}
    pictures = {f"plots.{name}" for name in fastir.plots.__all__} if importlib.util.find_spec("matplotlib") else set()
    assert ways | pictures <= set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_an_option_changes_something_or_is_refused(name):
    wrong = {}
    for option in taken(name):
        if option not in OWN and (name, option) not in EXCEPTED:
            values = OVERRIDES.get((name, option)) or VALUES.get(option)
            assert values, f"{option} is without a value that must matter: give it one in option_calls"
            wrong |= {(option, repr(given.value)): problem(name, option, given, True) for given in values}
    assert {key: text for key, text in wrong.items() if text} == {}


@pytest.mark.parametrize("name", CALLS)
def test_another_option_of_evaluate_is_refused_by_its_name(name):
    wrong = {option: problem(name, option, VALUES[option][0], False) for option in also(name) if option not in OWN}
    assert {option: text for option, text in wrong.items() if text} == {}


@pytest.mark.parametrize("name", [name for name in CALLS if "n_threads" in taken(name)])
def test_a_number_of_threads_is_read_and_changes_nothing(name):
    assert "n_threads" in str(outcome(CALLS[name], {"n_threads": -1}))
    assert outcome(CALLS[name], {"n_threads": 2}) == outcome(CALLS[name], {"n_threads": 1})


@pytest.mark.parametrize("name", [name for name in CALLS if "progress" in taken(name)])
def test_progress_is_reported(name):
    called = []
    given = outcome(CALLS[name], NOTICED.get(name, {"runs": FILES}) | {"progress": lambda *what: called.append(what)})
    assert not isinstance(given, Exception), given
    assert called
