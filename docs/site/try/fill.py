"""Puts beside the page what it loads: `fill.py SITE/try PYODIDE WHEEL...`, the wheels in the order of their needs.

PYODIDE is the folder of the npm package `pyodide`; the wheels are NumPy's and fastir's for its version of Python.
"""

import json
import shutil
import sys
from pathlib import Path

RUNTIME = ("pyodide.mjs", "pyodide.asm.*", "pyodide-lock.json", "python_stdlib.zip")


def fill(page, pyodide, wheels):
    """Copy the files, and write files.json; returns the bytes of what is not Pyodide's own."""
    (page / "pyodide").mkdir(exist_ok=True)
    for pattern in RUNTIME:
        for path in sorted(pyodide.glob(pattern)):
            shutil.copy(path, page / "pyodide" / path.name)
    for wheel in wheels:
        shutil.copy(wheel, page / wheel.name)
    listed = {"pyodide": "pyodide/", "wheels": [wheel.name for wheel in wheels]}
    (page / "files.json").write_text(json.dumps(listed) + "\n", "utf-8")
    return sum(path.stat().st_size for path in page.rglob("*") if path.is_file() and path.parent.name != "pyodide")


if __name__ == "__main__":
    page, pyodide, *wheels = map(Path, sys.argv[1:])
    print(f"{fill(page, pyodide, wheels)} bytes beside Pyodide's own")
