"""Made-up submissions: small qrels and runs as files, and what spoils them, at random or as it is told."""

import gzip

QUERIES, DEPTH = 4, 6
TOKENS = (
    *(b"nan", b"NaN", b"inf", b"-inf", b"1e999", b"abc", b"0x1p3", b"1_0", b"2,5", b"-3", b"0.5", b"1.", b".5", b"+1"),
    *(b"3000000000", b"-2147483649", b"1e-400", b"--1", b"1e", b"12345678901234567890.123", b"1abc", b"\xb9", b"0"),
    *(b"#", b"#x", b"d0", b"d 1", b"", b"\x00", b"\r", b"\x0b", b"\xc3\xa4", b"\xff", b'"x"', b"q0", b"q9", b"\t"),
)
LINES = (
    *(b"", b"  ", b"\t", b"# a comment", b"#q1 Q0 d1 1 2.0 t", b"# 0 d1 1", b"#q 0 d1 1", b"{}", b"a,b,c,d,e", b"\x00"),
    *(b"q1 0 d1 1", b"q1 Q0 d1 1 2.0 t", b"q1\td1\t1", b"q1\td1\t1 ", b"q1\td1\tinf ", b'"q1\td1\t1', b"#\r", b"\r\r"),
    *(b"q1 d1 1", b"q1 d1 1 0.5", b"q1 d1 0.5", b"query-id\tcorpus-id\tscore", b"\xff\xfe", b"x" * 200),
)


def clean(rng, is_run, format="trec"):
    """The lines of a file without a fault that `evaluate` would refuse."""
    lines = [b"query-id\tcorpus-id\tscore"] if format == "beir" else []
    for query in range(QUERIES):
        docs = rng.sample(range(2 * DEPTH), DEPTH)
        for place, doc in enumerate(docs, 1):
            number = b"%d.5" % (DEPTH - place) if is_run else b"%d" % rng.randrange(3)
            if format == "beir":
                fields = [b"q%d" % query, b"d%d" % doc, number]
            elif is_run:
                fields = [b"q%d" % query, b"Q0", b"d%d" % doc, b"%d" % place, number, b"tag"]
                if format == "msmarco":
                    fields = [fields[0], fields[2], fields[3]]
            else:
                fields = [b"q%d" % query, b"0", b"d%d" % doc, number]
            lines.append((b"\t" if format == "beir" else b" ").join(fields))
    return lines


def spoil(rng, lines):
    """Change one thing at random."""
    place = rng.randrange(len(lines))
    fields = lines[place].split(b" ") if b" " in lines[place] else lines[place].split(b"\t")
    between = b" " if b" " in lines[place] else b"\t"
    what = rng.randrange(9)
    if what == 0:
        lines[place:place] = [rng.choice(LINES)]
    elif what == 1:
        fields[rng.randrange(len(fields))] = rng.choice(TOKENS)
    elif what == 2:
        fields[rng.randrange(len(fields))] += rng.choice(TOKENS)
    elif what == 3:
        del fields[rng.randrange(len(fields))]
    elif what == 4:
        fields.insert(rng.randrange(len(fields) + 1), rng.choice(TOKENS))
    elif what == 5:
        lines.append(lines[place])
    elif what == 6:
        lines[:] = [line.replace(b"d", b"D") for line in lines]
    elif what == 7:
        between = rng.choice((b"  ", b"\t", b" \t", b"\x0b", b","))
    else:
        lines[:] = [line.replace(b"q", b"Q" if rng.random() < 0.2 else b"q") for line in lines]
    if what in (1, 2, 3, 4, 7):
        lines[place] = between.join(fields)


def as_bytes(rng, lines):
    """A file of these lines, in one of the encodings that there are."""
    end = rng.choice((b"\n",) * 30 + (b"\r\n",) * 3 + (b"\r",))
    text = end.join(lines) + (end if rng.random() < 0.8 else b"")
    kind = rng.random()
    if kind < 0.02:
        text = text.decode("latin-1").encode("utf-16")
    elif kind < 0.05:
        text = b"\xef\xbb\xbf" + text
    elif kind < 0.06:
        text = b""
    return text


def packed(rng, text):
    """gzip, whole or cut."""
    data = gzip.compress(text, mtime=0)
    return data if rng.random() < 0.7 else data[: rng.randrange(len(data) // 2, len(data))]
