"""An interrupt in the import of a compiled module ends that import, and no later one.

Modules are imported by the first call that needs them, so that Ctrl-C may come then. Once a program imports all of them
and interrupts each import that a compiled module makes, where it makes it first; then first calls are interrupted at
points all along, each in a fork. `pytest tests/threads/test_interrupted_imports.py --points 240` interrupts 720.
"""

import json
import os

import pytest
from processes import patient, python

MODULES = """
import importlib, importlib.machinery, pathlib

loads = importlib.machinery.ExtensionFileLoader.exec_module.__code__
interrupted = set()

def interrupt(frame, event, argument):
    caller = frame.f_back
    while caller is not None and caller.f_code.co_name == "_call_with_frames_removed":
        caller = caller.f_back
    if frame.f_code.co_name == "_find_and_load" and caller is not None and caller.f_code is loads:
        pair = caller.f_locals["module"].__name__, frame.f_locals["name"]
        if pair not in interrupted:
            interrupted.add(pair)
            raise KeyboardInterrupt

folder = pathlib.Path(fastir.__file__).parent
names = {
    ".".join(["fastir", *path.relative_to(folder).parts[:-1], path.name.partition(".")[0]])
    for path in folder.rglob("_*.*") if path.suffix in (".so", ".pyd") and path.parent != folder
}
for name in sorted(names, reverse=sys.argv[1] == "reverse"):
    while True:
        sys.settrace(interrupt)
        try:
            importlib.import_module(name)
            break
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)
print(len(interrupted))
"""
CALLS = """
call = {
    "matrix": lambda: fastir.evaluate_matrix(np.array([[0.1, 0.3, 0.2]]), [[1, 2]], "map")["map"],
    "lists": lambda: fastir.evaluate_lists([["b", "a"]], [["a"]], "map")["map"],
    "explain": lambda: str(fastir.explain(QRELS, RUN, "q1", "map")),
}[sys.argv[1]]

def first_call(n):
    '''In a fork: a call that is interrupted at its n-th Python function, and one more; (functions, value or error).'''
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        with open(reader) as said:
            told = json.load(said)
        os.waitpid(child, 0)
        return told
    calls = 0
    def interrupt(frame, event, argument):
        nonlocal calls
        calls += 1
        if calls == n:
            sys.settrace(None)
            raise KeyboardInterrupt
    told = [0, "nothing"]
    try:
        sys.settrace(interrupt)
        try:
            call()
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)
        told = [calls, call()]
    except BaseException as error:
        told = [calls, repr(error)]
    os.write(writer, json.dumps(told).encode())
    os._exit(0)

points = int(sys.argv[2])
last, value = first_call(0)
told = {n: first_call(n) for n in (1 + last * point // points for point in range(points))}
print(json.dumps([len(told), [(n, *said) for n, said in told.items() if said != [n, value]]]))
"""


@pytest.mark.parametrize("order", ["forward", "reverse"])
def test_every_import_of_a_compiled_module_can_be_interrupted_and_repeated(order):
    assert int(python(MODULES, order)) > 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("call", ["matrix", "lists", "explain"])
def test_a_first_call_that_was_interrupted_leaves_the_next_one_alone(call, pytestconfig):
    points = pytestconfig.getoption("--points")
    interrupted, broken = json.loads(python(CALLS, call, points, timeout=patient(600)))
    print(f"{call}: {interrupted} first calls interrupted, {len(broken)} broken")
    assert interrupted == points
    assert not broken, f"{len(broken)} of {interrupted}"
