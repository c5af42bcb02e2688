"""fastir doctor and --version --verbose: what a report needs, and a self-test."""

import fastir
from fastir.cli import doctor


def test_doctor_says_what_a_report_needs(output):
    text = output("doctor")
    for word in (fastir.__version__, "numpy", "simd", "openmp", "n_threads", "python", "system"):
        assert word in text
    assert "self-test" in text and "right" in text


def test_a_verbose_version_is_what_doctor_says_without_its_test(output, call):
    text = output("--version", "--verbose")
    assert text == output("--verbose", "--version") == output("doctor").partition("self-test")[0]
    assert "numpy" in text and call("--verbose")[0] == 1


def test_doctor_notices_a_wrong_value(call, monkeypatch):
    monkeypatch.setitem(doctor.EXPECTED, "map", 0.5000001)
    code, out, _ = call("doctor")
    assert code == 3 and "WRONG: map of a dict with 1 threads" in out
