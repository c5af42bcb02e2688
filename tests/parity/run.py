"""Compares fastir with every peer that is installed, and counts the values that agree and those that do not.

    python tests/parity/run.py                            all peers, a minute in all
    python tests/parity/run.py --seconds 600 --seed 7     longer, from another collection on
    python tests/parity/run.py --peer ranx --seed 1234 --seconds 0    one collection: what an earlier run has named
    python tests/parity/run.py --json                     the same numbers as one object
    python tests/parity/run.py --page docs/exactness.md --badge docs/exactness.svg    ... as a page (receipts.py)

Collections are numbered, and each is made from its number. What may differ, and why, is in known.py. The exit code is 1
if any other value is off, or a peer refuses a collection that was made for it. trec_eval is the one on the path, or the
file that TREC_EVAL names.
"""

import argparse
import json
import math
import sys
import time
import warnings
from collections import Counter, defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
SHOWN = 5  # values off that are printed for each peer


class Cell:
    """What was compared of one metric under one set of rules, by the input of fastir."""

    def __init__(self):
        self.compared = Counter()
        self.known = self.off = 0
        self.largest = 0.0


class Count:
    """What was compared with a peer; `cells` has it by (metric, rules)."""

    def __init__(self, name, version, within=0.0):
        self.name, self.version, self.within = name, version, within
        self.collections = self.compared = self.off = self.refused = 0
        self.largest = 0.0
        self.known = Counter()
        self.first = []
        self.cells = defaultdict(Cell)

    def note(self, peer, case, metric, query, ours, theirs, way, rules):
        """One value of ours and of theirs, where None is none."""
        from known import reason_for

        difference, cell = distance(ours, theirs), self.cells[metric, rules]
        self.compared += 1
        cell.compared[way] += 1
        if difference <= peer.within:
            self.largest = max(self.largest, difference)
            cell.largest = max(cell.largest, difference)
            return
        reason = reason_for(self.name, metric, case, query)
        if reason is not None:
            self.known[reason] += 1
            cell.known += 1
            return
        self.off += 1
        cell.off += 1
        if len(self.first) < SHOWN:
            self.first.append(f"{case.name}, {way}, query {query}, {metric}: {ours!r} here, {theirs!r} there")

    def refuse(self, case, error):
        """The peer has no answer for a collection."""
        self.refused += 1
        self.first.append(
            f"{case.name}: {type(error).__name__} there: {str(error)[-200:]} {getattr(error, 'stderr', '')}"
        )

    def record(self):
        return {key: value for key, value in vars(self).items() if key not in ("cells", "within")}


def distance(ours, theirs):
    """Between two values, relative to theirs if that is above 1; a value that they leave out is NaN here."""
    if ours is not None and ours != ours and (theirs is None or theirs != theirs):
        return 0.0
    if ours is None or theirs is None:
        return math.inf
    if ours == theirs:
        return 0.0
    difference = abs(ours - theirs) / max(1.0, abs(theirs))
    return difference if difference == difference else math.inf


def compare(count, peer, case):
    """One collection: what the peer says to each of its asks, and fastir in every way."""
    from peers import MEAN
    from ways import WAYS

    for ask in peer.asks:
        asked = case
        for need in ask.needs:
            asked = need(asked)
        if not asked.qrels.keys() & asked.run.keys():
            continue
        try:
            theirs = peer.call(asked, ask.names, **ask.theirs)
        except Exception as error:
            count.refuse(asked, error)
            continue
        rules = ", ".join(str(value) if key == "convention" else f"{key}={value}" for key, value in ask.ours.items())
        for way in peer.ways:
            results = WAYS[way](asked, dict.fromkeys(ask.names.values()), **ask.ours)
            if results is None:
                continue
            for name, values in theirs.items():
                column = results.per_query(ask.names[name])
                queries = values if list(values) == [MEAN] else dict.fromkeys((*values, *column))
                for query in queries:
                    ours = results[ask.names[name]] if query is MEAN else column.get(query)
                    count.note(peer, asked, name, query, ours, values.get(query), way, rules)


def against(name, peer, seconds, seed):
    """The Count of a peer, after so many seconds and at least one collection."""
    from cases import case_of

    count = Count(name, peer.version(), peer.within)
    end = math.inf
    while count.collections == 0 or time.monotonic() < end:
        compare(count, peer, case_of(seed + count.collections, peer.groups))
        count.collections += 1
        end = min(end, time.monotonic() + seconds)  # the first one imports the peer
    return count


def table(counts):
    """The counts as text."""
    rows = [("peer", "version", "collections", "compared", "known", "off", "refused", "largest difference")]
    rows += [
        (
            c.name, c.version, *(f"{n:,}" for n in (c.collections, c.compared, c.known.total(), c.off, c.refused)),
            f"{c.largest:.2g}",
        )
        for c in counts
    ]  # fmt: skip
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    for count in counts:
        lines += [f"{count.name}, known, {number:,}: {reason}" for reason, number in count.known.items()]
        lines += [f"{count.name}, off: {line}" for line in count.first]
    return "\n".join(lines)


def main():
    import receipts
    from peers import PEERS

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="for all peers together")
    parser.add_argument("--peer", action="append", choices=PEERS, help="may be given several times (default: all)")
    parser.add_argument("--seed", type=int, default=0, help="the number of the first collection")
    parser.add_argument("--json", action="store_true")
    parser.add_argument(
        "--page",
        type=Path,
        help="also write a page of what was compared, and beside it NAME_values.md with every metric",
    )
    parser.add_argument("--badge", type=Path, help="also write a picture of one line")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    present = {name: PEERS[name] for name in options.peer or PEERS if PEERS[name].version() is not None}
    counts = [against(name, peer, options.seconds / len(present), options.seed) for name, peer in present.items()]
    if options.page:
        values = options.page.with_stem(f"{options.page.stem}_values")
        options.page.write_text(receipts.page(counts, options.seed, values.name), "utf-8")
        values.write_text(receipts.values_page(counts, options.page.name), "utf-8")
    if options.badge:
        options.badge.write_text(receipts.badge(counts), "utf-8")
    print(json.dumps([count.record() for count in counts]) if options.json else table(counts))
    return any(count.off or count.refused for count in counts)


if __name__ == "__main__":
    sys.exit(main())
