#!/usr/bin/env bash
# Builds a copy of the checkout for a free-threaded CPython, and runs tests on it:
#
#   tests/free_threading.sh python3.13t                      the tests of threads, joins, inputs and results
#   tests/free_threading.sh python3.13t tests/threads ...    these tests alone
#
# The interpreter needs NumPy, Cython, setuptools, pytest and hypothesis; pandas, pyarrow and SciPy have wheels for it,
# too. Where a system has none, Debian's source package (deb-src of trixie) makes one in some minutes:
#
#   apt-get source python3.13 && cd python3.13-*
#   ./configure --disable-gil --prefix="$HOME/py313t" && make -j2 install
set -eu
python=$(command -v "$1")
shift
cd "$(dirname "${BASH_SOURCE[0]}")/.."
"$python" -c 'import sys; sys.exit(sys._is_gil_enabled())' || { echo "$python has a GIL" >&2; exit 1; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$folder"
cd "$folder"
"$python" setup.py -q build_ext --inplace
[ $# -gt 0 ] || set -- tests/threads tests/join tests/inputs tests/results
PYTHONPATH=$folder "$python" -X faulthandler -m pytest -q -p no:cacheprovider "$@"
