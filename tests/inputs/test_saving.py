"""A saved file takes its place in one step: with the old mode, under any name, whatever else is in its folder."""

import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from processes import patient, start

import fastir
from fastir.rendering import text
from fastir.rendering.text import replacing

NAMED = pytest.mark.parametrize("named", [True, False], ids=["named", "unnamed"])
RUN = {"q1": {"a": 2.0, "b": 1.0}}
ON_POSIX = pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither modes nor these signals")


def savers():
    """Everything that writes a file, by what it writes."""
    results = fastir.evaluate({"q1": {"a": 1}}, RUN, "map")
    yield "run", fastir.Run.from_dict(RUN).save
    yield "run.gz", fastir.Run.from_dict(RUN).save
    yield "qrels.json", fastir.Qrels.from_dict({"q1": {"a": 1}}).save
    yield "results.tsv", results.save
    yield "results.json", results.save


@ON_POSIX
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o400, 0o644, 0o664, 0o755, 0o666])
def test_the_mode_of_a_file_is_kept(mode, tmp_path):
    before = os.umask(0o022)
    try:
        for name, save in savers():
            path = tmp_path / name
            path.write_bytes(b"old")
            path.chmod(mode)
            save(path)
            assert stat.S_IMODE(path.stat().st_mode) == mode
            assert path.stat().st_size > 3
    finally:
        os.umask(before)


@pytest.fixture
def drafts(monkeypatch):
    """Drafts with names, as on systems that have no others, or without."""

    def chosen(named):
        if not named and (text.UNNAMED_FLAG is None or not os.path.isdir(text.OPEN_FILES)):
            pytest.skip("this system has no files without names")
        monkeypatch.setattr(text, "UNNAMED_FLAG", None if named else text.UNNAMED_FLAG)

    return chosen


@ON_POSIX
@NAMED
def test_a_draft_is_never_wider_than_the_file_and_a_new_file_follows_the_umask(named, drafts, tmp_path):
    drafts(named)
    path = tmp_path / "secret"
    path.write_bytes(b"old")
    path.chmod(0o600)
    before = os.umask(0o027)
    try:
        for expected in (0o600, 0o640):
            with replacing(str(path)) as file:
                others = [entry.name for entry in tmp_path.iterdir() if entry != path]
                assert len(others) == named
                assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == expected
                file.write(b"new")
            assert stat.S_IMODE(path.stat().st_mode) == expected
            path.unlink()
    finally:
        os.umask(before)


@pytest.mark.skipif(text.UNNAMED_FLAG is None, reason="this system has no files without names")
def test_a_system_that_gives_no_name_to_an_open_file_copies_it(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(1, "no")

    monkeypatch.setattr(os, "link", refuse)
    path = tmp_path / "x"
    for content in (b"old" * 1000, b"new"):
        with replacing(str(path)) as file:
            file.write(content)
        assert path.read_bytes() == content
        path.chmod(0o640)
    assert os.listdir(tmp_path) == ["x"]
    with replacing(str(path)) as file:
        file.write(b"newer")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize("length", [1, 231, 232, 240, 251, 255])
def test_a_name_may_be_as_long_as_the_system_allows(length, tmp_path):
    path = tmp_path / ("n" * length)
    try:
        path.write_bytes(b"")
    except OSError:
        pytest.skip("this system does not allow it")
    for _ in range(2):
        fastir.Run.from_dict(RUN).save(path)
        assert fastir.Run.from_file(path).to_dict() == RUN
        assert os.listdir(tmp_path) == [path.name]


def test_a_name_that_is_too_long_is_the_one_in_the_error(tmp_path):
    path = tmp_path / ("n" * 300)
    with pytest.raises(OSError) as caught:
        fastir.Run.from_dict(RUN).save(path)
    assert caught.value.filename == str(path)
    assert os.listdir(tmp_path) == []


SAVING = """
    from fastir.rendering.text import replacing
    with replacing(sys.argv[1]) as file:
        file.write(b"half of it")
        file.flush()
        print("writing", flush=True)
        sys.stdin.read()
"""


@ON_POSIX
@pytest.mark.skipif(text.UNNAMED_FLAG is None, reason="this system has no files without names")
@pytest.mark.parametrize("number", [signal.SIGTERM, getattr(signal, "SIGKILL", None)], ids=["SIGTERM", "SIGKILL"])
def test_a_process_that_is_killed_leaves_the_old_file_and_no_draft(number, tmp_path):
    path, other = tmp_path / "results.json", tmp_path / "other.json"
    path.write_text("old")
    with start(SAVING, path, stdin=subprocess.PIPE) as killed, start(SAVING, other, stdin=subprocess.PIPE) as alive:
        assert killed.stdout.readline() == alive.stdout.readline() == "writing\n"
        killed.send_signal(number)
        killed.wait(patient(20))
        assert path.read_text() == "old"
        assert os.listdir(tmp_path) == ["results.json"]
        fastir.evaluate({"q1": {"a": 1}}, RUN, "map").save(path)
        assert json.loads(path.read_text())
        _, err = alive.communicate("", timeout=patient(20))
        assert (alive.returncode, err) == (0, "")
    assert sorted(os.listdir(tmp_path)) == ["other.json", "results.json"]
    assert other.read_text() == "half of it"


@ON_POSIX
@NAMED
def test_what_has_the_name_of_a_draft_is_left_alone(named, drafts, tmp_path):
    """A FIFO, which would hang who opens it, a link to one, a link to nowhere, and a user's own files."""
    drafts(named)
    names = [f".fastir-{name}.tmp" for name in ("fifo", "link", "nowhere", "own", "0123456789abcdef")]
    fifo, link, nowhere, *own = (tmp_path / name for name in names)
    os.mkfifo(fifo)
    link.symlink_to(fifo)
    nowhere.symlink_to(tmp_path / "missing")
    for path in own:
        path.write_text("mine")
    for name, save in savers():
        save(tmp_path / name)
        (tmp_path / name).unlink()
    assert sorted(os.listdir(tmp_path)) == sorted(names)
    assert [path.read_text() for path in own] == ["mine", "mine"]


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    """A folder of 30 000 files."""
    folder = tmp_path_factory.mktemp("full")
    for number in range(30_000):
        os.close(os.open(folder / f".fastir-{number}", os.O_CREAT))
    return folder


@ON_POSIX
@NAMED
def test_a_full_folder_does_not_make_a_save_slow(named, drafts, full, tmp_path):
    """It makes the same calls as in an empty one."""
    drafts(named)
    results = fastir.evaluate({"q1": {"a": 1}}, RUN, "map")
    results.save(tmp_path / "x.tsv")  # what the first call imports

    def calls(folder):
        seen = []
        sys.setprofile(lambda frame, event, made: seen.append(getattr(made, "__name__", frame.f_code.co_name)))
        try:
            results.save(folder / "y.tsv")
        finally:
            sys.setprofile(None)
        (folder / "y.tsv").unlink()
        return seen

    with tempfile.TemporaryDirectory(dir=full.parent, prefix="empty") as empty:
        assert calls(full) == calls(Path(empty))


@NAMED
def test_an_exception_leaves_the_old_file_and_no_draft(named, drafts, tmp_path):
    drafts(named)
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with contextlib.suppress(KeyboardInterrupt), replacing(str(path)) as file:
        file.write(b"new")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_many_threads_save_at_once(tmp_path):
    """Side by side, and all into one file: it is whole at any time, and no draft stays."""
    runs = [fastir.Run.from_dict({"q": {f"d{i}": float(i) for i in range(n)}}) for n in range(1, 9)]
    problems = []

    def save(number):
        try:
            for _ in range(10):
                runs[number].save(tmp_path / "shared")
                runs[number].save(tmp_path / f"own{number}")
                assert 1 <= fastir.Run.from_file(tmp_path / "shared").columns.n_rows <= 8
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=save, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert sorted(os.listdir(tmp_path)) == [*(f"own{number}" for number in range(8)), "shared"]


@pytest.mark.skipif(not hasattr(os, "fsync"), reason="needs fsync")
def test_what_is_saved_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    done = []
    synced, replaced = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda descriptor: (done.append("fsync"), synced(descriptor)))
    monkeypatch.setattr(os, "replace", lambda *paths: (done.append("replace"), replaced(*paths)))
    fastir.Run.from_dict(RUN).save(tmp_path / "run")
    assert done[:2] == ["fsync", "replace"]
