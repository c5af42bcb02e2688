"""What show_config() tells of this machine."""

import os

import fastir

SETS = fastir.show_config()["simd_available"]


def test_the_choice_shows():
    config = fastir.show_config()
    assert config["simd"] == (os.environ.get("FASTIR_SIMD") or SETS[-1])
    assert SETS[0] == "portable" and config["version"] == fastir.__version__
    assert config["n_threads"] >= 1
    config["simd_available"].clear()
    assert fastir.show_config()["simd_available"] == SETS
