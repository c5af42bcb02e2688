"""Files of lines with every kind of fault, and what is said of each query, in plain Python."""

from fastir.analyses.check.sides import Ranking

HEADER = b"query-id\tcorpus-id\tscore"
FORMATS = ["trec", "trec_eval", "beir", "msmarco"]
NUMBERS = ["nan", "inf", "-inf", "1e999", "abc", "-3", "2147483648", "1_0", "+1", "-0.0", "1.", "0x1", ".5", "-5e-1"]
RANKS = ["third", "1.5", "-1", "+1", "1234567890123456", "123456789012345", "0", "007", "inf", "1e2"]
ODD_LINES = [b"", b"  ", b"\t", b"# note", b"#", b"\x0c", b"x"]
BYTES = [b"\0", b"\r", b"\xff", b"\xed\xa0\x80", b'"', b"\t", b" ", b"\x1c"]
N_LINES = [0, 1, 2, 3, 20, 63, 64, 65, 130, 300]
LENGTHS = [1, 7, 8, 9, 16, 55, 63, 64, 65, 200]


def fields_of_line(rng, form, is_run, has_faults):
    """The fields of a line; ids come back, and a few are long or not ASCII."""
    query = f"q{rng.randrange(4)}" if rng.random() < 0.8 else rng.choice(["Q1", "é", "x" * rng.choice(LENGTHS)])
    doc = f"d{rng.randrange(30)}" if rng.random() < 0.8 else rng.choice(["D1", "ü", "y" * rng.choice(LENGTHS)])
    number = str(rng.choice([rng.randrange(5), round(rng.random(), 3), "1e-3"])) if is_run else rng.choice("0120")
    rank, tag = str(rng.randrange(1, 9)), "t"
    if has_faults and rng.random() < 0.3:
        number, rank, tag = rng.choice(
            [(rng.choice(NUMBERS), rank, tag), (number, rng.choice(RANKS), tag), (number, rank, rng.choice("uvé"))]
        )
    if form == "beir":
        return [query, doc, number]
    if not is_run:
        return [query, "0", doc, number]
    if form == "msmarco":
        return [query, doc, rank] if rng.random() < 0.7 else [query, doc, rank, number]
    return [query, "Q0", doc, rank, number, tag]


def random_line(rng, form, is_run, has_faults):
    fields = fields_of_line(rng, form, is_run, has_faults)
    if has_faults and rng.random() < 0.2:
        fields = rng.choice([fields[: rng.randrange(1, len(fields) + 1)], [*fields, "more"]])
    tabs = (form in ("beir", "msmarco") and is_run) or form == "beir"
    line = ("\t" if tabs else rng.choice([" "] * 9 + ["\t", "  "])).join(fields).encode()
    if not has_faults or rng.random() < 0.5:
        return line
    place = rng.randrange(len(line) + 1)
    odd = [b"#" + line, b" " + line, line + b" ", b'"' + line, line[:place] + rng.choice(BYTES) + line[place:]]
    return rng.choice(odd + ODD_LINES)


def random_file(rng, form, is_run):
    """Bytes of a file: most lines are right, or all; faults also stand in the first and in the last line."""
    n, share = rng.choice(N_LINES), rng.choice([0, 0.05, 0.5])
    lines = [random_line(rng, form, is_run, rng.random() < share) for _ in range(n)]
    if n and share:
        lines[rng.choice([0, -1])] = random_line(rng, form, is_run, True)
    if rng.random() < 0.3:
        lines.sort(key=lambda line: line.split()[:1])
    lines = [HEADER, *lines] if form == "beir" and rng.random() < 0.95 else lines
    end = rng.choice([b"\n"] * 5 + [b"\r\n", b"\r", b"\r\r\n"])
    data = end.join(lines) + end * (rng.random() < 0.7)
    return b"\xef\xbb\xbf" * (rng.random() < 0.05) + data


def tied_documents(ranking):
    """How many documents share their score with another one, the first of them and the one before it; None if none."""
    tied = {}
    for place, score in enumerate(ranking.numbers):
        before = next((other for other, value in enumerate(ranking.numbers) if value == score), place)
        if ranking.docs[before] != ranking.docs[place]:
            tied[place] = before
    if not tied:
        return None
    other, one = next(iter(tied.items()))
    return len({*tied, *tied.values()}), ranking.docs[one], ranking.docs[other]


def contradiction(ranking):
    """The first document, by rank, with a higher score than one of a better rank, and the lowest such one."""
    places = [
        place
        for place, pair in enumerate(zip(ranking.ranks, ranking.numbers, strict=True))
        if not any(value != value for value in pair)
    ]
    places.sort(key=ranking.ranks.__getitem__)
    for place in places:
        better = [other for other in places if ranking.ranks[other] < ranking.ranks[place]]
        lowest = min(better, key=ranking.numbers.__getitem__, default=place)
        if ranking.numbers[place] > ranking.numbers[lowest]:
            return ranking.docs[lowest], ranking.docs[place]
    return None


def duplicates(ranking: Ranking):
    """(document, first line, line) of each line that repeats a document."""
    first = {}
    pairs = zip(ranking.docs, ranking.lines, strict=True)
    return [(doc, before, line) for doc, line in pairs if (before := first.setdefault(doc, line)) != line]
