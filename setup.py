"""Turns every fastir/**/*.pyx into an extension module; whatever needs no code is in pyproject.toml.

Three variables of the environment choose the kind of build:

FASTIR_OPENMP       auto (the default) uses OpenMP if the compiler has it, but not on macOS, where two copies of libomp
                    in one process crash, nor for WebAssembly, which has no threads; off does not use it; require
                    fails where the compiler does not have it
FASTIR_LIMITED_API  1 builds against the stable ABI: one wheel for CPython 3.11 and later
FASTIR_DEBUG        1 checks bounds, None and uninitialised views, and keeps assertions and symbols

Each kind has a folder of its own under build/, so that none picks up what another left. The helper functions that
Cython would repeat in every module are built once, as fastir._cyutility.
"""

import gc
import os
import re
import sys
import sysconfig
import tempfile
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError, LinkError, PlatformError


def switch(name, *choices):
    """The value of an environment variable; the first choice is the default."""
    value = os.environ.get(name) or choices[0]
    if value not in choices:
        raise SystemExit(f"{name} is {value!r}, expected one of {', '.join(choices)}")
    return value


HOME = ""  # the address of the public repository, to be set at publication: every link of the metadata follows from it
[VERSION] = re.findall(r'^__version__ = "(.+)"', Path("fastir/_version.py").read_text("utf-8"), re.MULTILINE)
FILES = f"blob/v{VERSION}"  # of the tag: what a version says does not change under it


def urls(home):
    """The links beside a description; the site of a repository on GitHub is on its Pages."""
    site = re.sub(r"https://github\.com/([^/]+)/([^/]+)", r"https://\1.github.io/\2/", home)
    return {
        "Homepage": home,
        "Documentation": f"{home}/{FILES}/docs/index.md" if site == home else site,
        "Source": home,
        "Issues": f"{home}/issues",
        "Changelog": f"{home}/{FILES}/CHANGELOG.md",
    }


INSTALL = "```bash\npip install fastir\n```\n"


def front_page(address=""):
    """README.md for a package index, where nobody has a checkout: without its commands of a checkout and of the tests.

    Links and pictures need the address of the repository.
    """
    text = Path("README.md").read_text("utf-8")
    head, rest = text.split("## Install\n", 1)
    rest = rest.split("## From Python\n", 1)[1].split("\n## Tests\n", 1)[0]
    text = f"{head}## Install\n\n{INSTALL}\n## From Python\n{rest}"
    if not address:
        return text
    pictures, links = r'!\[[^]]*\]\(|\bsrc="|\bsrcset="', r'\]\(|\bhref="'
    for before, files in ((pictures, f"raw/v{VERSION}"), (links, FILES)):  # a badge is a picture within a link
        text = re.sub(rf"({before})(?!\w+:|#)", rf"\1{address}/{files}/", text)
    return text


OPENMP = switch("FASTIR_OPENMP", "auto", "off", "require")
LIMITED_API = switch("FASTIR_LIMITED_API", "0", "1") == "1"
DEBUG = switch("FASTIR_DEBUG", "0", "1") == "1"

BUILD = "/".join(("build", "debug" if DEBUG else "release", "abi3" if LIMITED_API else "cpython"))
SHARED = "fastir._cyutility"
THREADED = "fastir.engine.threads._blocks"  # the only module with a prange: all kernels share it

# Strings are not compressed: an import would import zlib, and turn an interrupt of that into an ImportError.
MACROS = [("CYTHON_COMPRESS_STRINGS", "0"), *([("Py_LIMITED_API", "0x030B0000")] if LIMITED_API else [])]

# For all modules: a header comment in a .pyx would win over these unseen, and leave the debug build without its checks.
# Never wraparound: with it, the bounds checks would let negative indices pass. Never overflowcheck: hashes and decimal
# mantissas wrap around on purpose, and in a noexcept function it ends the call in silence; UBSan sees what is signed.
DIRECTIVES = {
    "language_level": 3,
    # An interrupted import of a module must leave one that can be tried again. What pickles an extension type unasked
    # takes two names out of it at the first import, and ends every later one with a KeyError.
    "auto_pickle": False,
    # Functions and methods that know their signature are a tenth of a wheel; only stubtest asks, of the debug build.
    "binding": DEBUG,
    "boundscheck": DEBUG,
    "cdivision": True,
    "freethreading_compatible": True,  # of every module, as no call writes to a module's variables; one without it
    # would turn the GIL on for the whole process
    "initializedcheck": DEBUG,
    "nonecheck": DEBUG,
    "wraparound": False,
}

# Floating-point results are the same on every machine: no contraction to FMA, no -ffast-math, no -march.
UNIX_FLAGS = ["-ffp-contract=off", "-fno-math-errno", *(["-O1", "-g", "-UNDEBUG"] if DEBUG else ["-g0"])]
MSVC_FLAGS = ["/fp:precise", *(["/Od", "/Z7", "/UNDEBUG"] if DEBUG else ["/O2"])]

# Built for size, which costs none of them more than 2 in 100 of its time: _cyutility makes memoryviews and functions,
# _arrow looks at a table once a call, the others wait for memory, or are asked for seldom. It costs _two_pass
# and the parents of _join 1.15 of their time, _fusion 1.12 to 1.21, _number_text 1.4, and -O2 costs _measure 1.65,
# _user_models 1.8, _ids 1.2 to 1.5.
SMALLEST_IN = {
    "fastir.engine.columns": "_arrow _arrow_out _objects",
    "fastir.analyses.agreement": "_ranking_pair _rankings",
    "fastir.analyses.fusion": "_trials",
    "fastir.engine.join": "_id_lists",
    "fastir.engine.measure": "_grades",
    "fastir.data.results": "_fields _totals",
    "fastir.evaluation.drivers": "_coverage",
    "fastir.stats": "_subset_sums",
    "fastir.analyses.bounds": "_labelings _segments",
}
SMALLEST = {SHARED, *(f"{folder}.{name}" for folder, names in SMALLEST_IN.items() for name in names.split())}


TARGET = "emscripten" if sysconfig.get_platform().startswith("emscripten") else sys.platform

# What nothing in a release reads was a fifth of a module: symbols that nothing links with, and the tables by which C++
# would unwind the stack. A sanitizer's reports need them.
BARE = TARGET == "linux" and not DEBUG and "-g" not in os.environ.get("CFLAGS", "").split()
if BARE:
    UNIX_FLAGS += ["-fno-unwind-tables", "-fno-asynchronous-unwind-tables", "-fno-plt"]
STRIP = ["-Wl,-s"] if BARE else []
if BARE and sysconfig.get_platform().endswith("aarch64"):
    STRIP.append("-Wl,-z,norelro")  # or each module is filled up to a page of 64 kB, a quarter of all that is installed

COMPILERS = {
    "darwin": "Apple's command line tools, which `xcode-select --install` installs",
    "win32": 'the Build Tools for Visual Studio with the workload "Desktop development with C++"',
    "linux": "a C compiler and the headers of Python, on Debian `apt install gcc libc6-dev python3-dev`, on Fedora "
    "`dnf install gcc python3-devel`, on Alpine `apk add gcc musl-dev python3-dev`",
}
NO_COMPILER = f"to build fastir from source you need {COMPILERS.get(sys.platform, 'a C compiler')}"
PROBE = "#include <Python.h>\nint probe(void) { return PY_VERSION_HEX; }\n"
ROUNDING_PROBE = "#include <float.h>\n#if FLT_EVAL_METHOD < 0 || FLT_EVAL_METHOD == 2\n#error\n#endif\n"
OPENMP_PROBE = "#include <omp.h>\nint probe(void) { return omp_get_max_threads(); }\n"


def builds(compiler, source, compile_flags=(), link_flags=None):
    """Whether a small library of this source compiles, and links if there are flags to link it with."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "probe.c")
        path.write_text(source)
        try:
            objects = compiler.compile([str(path)], output_dir=folder, extra_postargs=list(compile_flags))
            if link_flags is not None:
                compiler.link_shared_object(objects, str(Path(folder, "probe")), extra_postargs=link_flags)
        except (CompileError, LinkError, PlatformError):
            return False
    return True


def rounding_flags(compiler):
    """Flags with which every operation rounds to a double; none where the compiler does so unasked.

    For 32-bit x86 it does not: the registers of the x87 are wider, and most metrics would differ in their last bits.
    """
    return [] if compiler.compiler_type == "msvc" or builds(compiler, ROUNDING_PROBE) else ["-msse2", "-mfpmath=sse"]


def openmp_flags(compiler, wanted, platform=TARGET):
    """Flags for the compiler and for the linker, both empty for a build without OpenMP.

    Raises
    ------
    CompileError
        OpenMP is required, and the compiler does not have it.
    """
    compile_flags, link_flags = (["/openmp"], []) if compiler.compiler_type == "msvc" else (["-fopenmp"], ["-fopenmp"])
    if wanted == "require" or (wanted == "auto" and platform not in ("darwin", "emscripten")):
        if builds(compiler, OPENMP_PROBE, compile_flags, link_flags):
            return compile_flags, link_flags
        if wanted == "require":
            raise CompileError("FASTIR_OPENMP=require, but the compiler cannot compile and link a call of OpenMP")
    return [], []


class BuildExtensions(build_ext):
    """build_ext that adds the flags once the compiler is known."""

    def build_extensions(self):
        if not builds(self.compiler, PROBE):
            raise CompileError(NO_COMPILER)
        compile_flags, link_flags = openmp_flags(self.compiler, OPENMP)
        exact_flags = [*UNIX_FLAGS, *rounding_flags(self.compiler)]
        for extension in self.extensions:
            level = "-Os" if extension.name in SMALLEST else "-O3"
            unix_flags = exact_flags if DEBUG else [*exact_flags, level]
            extension.extra_compile_args = MSVC_FLAGS if self.compiler.compiler_type == "msvc" else unix_flags
            extension.extra_link_args = STRIP
            if extension.name == THREADED:
                extension.extra_compile_args = extension.extra_compile_args + compile_flags
                extension.extra_link_args = STRIP + link_flags
        super().build_extensions()


def extension(name, source):
    return Extension(
        name,
        [source],
        include_dirs=[
            "fastir/engine/columns",
            "fastir/engine/rank",
            "fastir/engine/threads",
        ],  # _bits.h, _simd.h, _blocks.h
        define_macros=MACROS,
        libraries=[] if sys.platform == "win32" else ["m"],
        py_limited_api=LIMITED_API,
    )


gc.set_threshold(1_000_000)  # to look for cycles in trees that Cython keeps took a quarter of its time
modules = [extension(".".join(path.with_suffix("").parts), str(path)) for path in sorted(Path("fastir").rglob("*.pyx"))]

setup(
    project_urls=urls(HOME) if HOME else {},
    long_description=front_page(HOME),
    long_description_content_type="text/markdown",
    # at module level: inside a command it would leave the .pyx files out of the sdist
    ext_modules=cythonize(
        [extension(SHARED, "fastir/_cyutility.c"), *modules],
        build_dir=f"{BUILD}/cython",
        compiler_directives=DIRECTIVES,
        shared_utility_qualified_name=SHARED,
    ),
    cmdclass={"build_ext": BuildExtensions},
    options={
        "build": {"build_base": BUILD},
        "build_ext": {"force": True, "parallel": True},
        "bdist_wheel": {"py_limited_api": "cp311"} if LIMITED_API else {},
    },
)
