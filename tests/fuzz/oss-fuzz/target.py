"""The program of a target: build.sh copies this file to fuzz_<target>.py, and its name says which target it runs."""

import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["fastir"]):
    from targets import TARGETS

if __name__ == "__main__":
    atheris.Setup(sys.argv, TARGETS[Path(sys.argv[0]).stem.removeprefix("fuzz_")])
    atheris.Fuzz()
