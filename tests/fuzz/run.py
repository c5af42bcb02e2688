"""Fuzz for some time: the corpus first, then mutations of it and of the seeds.

    python tests/fuzz/run.py --minutes 1            all targets, a minute in all
    python tests/fuzz/run.py --hours 2 trec metric  some of them
    python tests/fuzz/run.py --seed 7 ...           other mutations; the same seed makes the same ones
    python tests/fuzz/run.py --guided trec          one target by the coverage of Python code, with atheris

Each target runs in a process of its own, so that a crash ends only that. What breaks a promise, crashes or hangs is put
into corpus/<target>/, where tests/fuzz/test_fuzz.py runs it from then on, and the exit code is 1.
"""

import argparse
import faulthandler
import hashlib
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CORPUS = Path(__file__).resolve().parent / "corpus"
LONGEST = 1 << 14  # bytes of an input
HANGING = 30  # seconds that one input may take
NAMES = (
    *("trec", "lines", "json", "csv", "jsonl", "metric", "arrays", "pickles", "command"),
    *("judgments", "pairs", "verdicts", "engines", "quepid", "saved", "folders", "explain", "influence"),
)


def kept(target):
    """The corpus of a target, in an order that does not depend on the file system."""
    return [path.read_bytes() for path in sorted((CORPUS / target).glob("*"))]


def mutated(rng, inputs, words):
    """One input with a few changes: bytes, words, pieces of itself or of another."""
    data = bytearray(rng.choice(inputs))
    for _ in range(rng.choice((1, 1, 2, 3, 5, 9))):
        place = rng.randint(0, len(data))
        how = rng.randrange(8)
        if how == 0 and data:
            data[place % len(data)] ^= 1 << rng.randrange(8)
        elif how == 1 and data:
            data[place % len(data)] = rng.randrange(256)
        elif how == 2:
            del data[place : place + rng.choice((1, 1, 2, 8, 64))]
        elif how == 3:
            data[place:place] = rng.choice(words)
        elif how == 4:
            data[place:place] = bytes(rng.randrange(256) for _ in range(rng.choice((1, 2, 8))))
        elif how == 5:
            data[place:place] = data[place : place + rng.choice((1, 4, 32))] * rng.choice((1, 2, 50))
        elif how == 6:
            other = rng.choice(inputs)
            begin = rng.randint(0, len(other))
            data[place:] = other[begin:]
        else:
            data[place : place + rng.choice((1, 3))] = rng.choice(words)
    return bytes(data[:LONGEST])


def fuzz(name, seconds, seed, last=None):
    """Run a target for so long; (how many inputs, the input that broke it or None, what it broke)."""
    from targets import SEEDS, TARGETS, WORDS

    target, rng = TARGETS[name], random.Random(f"{name} {seed}")
    inputs = [*kept(name), *SEEDS[name]]
    end, count = time.monotonic() + seconds, 0
    while count < len(inputs) or time.monotonic() < end:
        data = inputs[count] if count < len(inputs) else mutated(rng, inputs, WORDS)
        if last is not None:
            last.write_bytes(data)
        count += 1
        faulthandler.dump_traceback_later(HANGING, exit=True)
        try:
            target(data)
        except Exception as error:
            return count, data, error
        finally:
            faulthandler.cancel_dump_traceback_later()
    return count, None, None


def keep(name, data):
    """Put what broke a target into its corpus."""
    path = CORPUS / name / hashlib.sha256(data).hexdigest()[:16]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def guide(name, seconds):
    """Coverage-guided; atheris puts what breaks the target into its corpus itself, and what is merely new nowhere."""
    import atheris

    with atheris.instrument_imports(include=["fastir"]):
        from targets import SEEDS, TARGETS
    with tempfile.TemporaryDirectory() as folder:
        for number, data in enumerate((*kept(name), *SEEDS[name])):
            Path(folder, str(number)).write_bytes(data)
        (CORPUS / name).mkdir(parents=True, exist_ok=True)
        limits = f"-max_total_time={int(seconds)}", f"-timeout={HANGING}", f"-max_len={LONGEST}"
        atheris.Setup([sys.argv[0], *limits, f"-artifact_prefix={CORPUS / name}/", folder], TARGETS[name])
        atheris.Fuzz()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"{', '.join(NAMES)} (default: all)")
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--hours", type=float, default=0.0)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--guided", action="store_true")
    parser.add_argument("--child", metavar="FILE", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = options.targets or NAMES
    if set(names) - set(NAMES):
        parser.error(f"targets are {', '.join(NAMES)}")
    seconds = (options.hours * 60 or options.minutes) * 60
    if options.guided:
        return guide(names[0], seconds)
    if options.child:
        for name in names:
            count, data, error = fuzz(name, seconds / len(names), options.seed, options.child)
            print(f"{count} inputs" if data is None else f"{type(error).__name__}: {error}", flush=True)
            if data is not None:
                return True
        return False
    broken = False
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            last = Path(folder, name)
            share = ["--minutes", str(seconds / 60 / len(names)), "--seed", options.seed, "--child", str(last)]
            done = subprocess.run([sys.executable, __file__, name, *share], capture_output=True, text=True)
            said = done.stdout.strip() or done.stderr.strip()[-2000:]
            where = f" -> {keep(name, last.read_bytes())}" if done.returncode else ""
            print(
                f"{name:8} {said if done.returncode in (0, 1) else f'exit {done.returncode}: {said}'}{where}",
                flush=True,
            )
            broken |= done.returncode != 0
    return broken


if __name__ == "__main__":
    sys.exit(main())
