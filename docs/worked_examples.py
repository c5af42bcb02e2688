"""Writes worked_examples.md: prose with code that is run, what it prints, and numbers that are computed.

    python docs/worked_examples.py > docs/worked_examples.md

In the prose ``{=expression:format}`` is a value from the code above it. Numbers that texts print, right or wrong, are
in italics; no other number is written by hand.
"""

import contextlib
import io
import re
import sys
from typing import Any

PAGE = """\
# Worked examples

Written by `python docs/worked_examples.py`, which runs the code below; edit that file. Numbers in italics are printed
by public texts on these metrics, some of them with slips; all others are computed here.

```python
import fastir

def value(labels, metric, **options):
    return fastir.evaluate_ranked(labels, [0, len(labels)], metric, **options)[metric]
```

## Cumulative gain does not see the order, DCG does

The same five labels in two orders, the better one first.

```python
A, B = [5, 2, 4, 0, 1], [2, 0, 5, 1, 4]
print("CG  ", value(A, "cg"), value(B, "cg"))
print("DCG ", value(A, "dcg"), value(B, "dcg"))
print("nDCG", value(A, "ndcg"), value(B, "ndcg"))
```

Both have a cumulative gain of {=value(A, "cg"):.0f}. How the DCG of the first comes about, and that of the second:

```python
a, b = fastir.explain_ranked(A, "ndcg"), fastir.explain_ranked(B, "ndcg")
print(a)
print(b)
print(" + ".join(f"{row.quotient:.2f}" for row in a.documents), "=", f"{value(A, 'dcg'):.2f}")
```

Without ids the labels of the list are all that is judged, so the ideal ranking of both is 5, 4, 2, 1, 0. A text that
rounds every term to two digits, and divides rounded sums, prints *0.9664* for the first; it is {=a.value:.4f}.
For the first three labels alone it prints *0.9694*, which is {=value(A[:3], "ndcg"):.4f}: the DCG is
{=value(A[:3], "dcg"):.2f}, the ideal {=value(A[:3], "ideal_dcg"):.2f}.

## A slip of addition

```python
A, B = [2, 3, 3, 1, 2], [3, 3, 2, 2, 1]
print("DCG ", value(A, "dcg"), value(B, "dcg"))
print("nDCG", value(A, "ndcg"), value(B, "ndcg"))
```

A text gives the first set a DCG of *6.64* and an nDCG of *0.93*. The terms add up to {=value(A, "dcg"):.2f}, and the
quotient is {=value(A, "ndcg"):.2f}; *7.14* for the ideal order is right.

## Judged documents that are not in the list

Two judged documents, with the labels 3 and 2, were not retrieved. They are in the ideal ranking all the same.

```python
labels, judged = [3, 2, 3, 0, 1, 2], [3, 2, 3, 0, 1, 2, 3, 2]
print(fastir.explain_ranked(labels, "ndcg@6", ideal_labels=judged))

def of_all(metric):
    return value(labels, metric, ideal_labels=judged, ideal_offsets=[0, 8])
```

So nDCG@6 is {=value(labels, "dcg@6"):.3f} / {=of_all("ideal_dcg@6"):.3f} = {=of_all("ndcg@6"):.3f}.
By other gains, discounts and ideal rankings it is another number:

```python
for metric in ("ndcg@6", "ndcg(ideal=retrieved)@6", "ndcg_burges@6", "ndcg_burges(ideal=retrieved)@6",
               "ndcg(discount=jk2)@6"):
    print(f"{of_all(metric):.4f}  {metric}")
```

An nDCG lies between 0 and 1 if no gain is negative and the ideal ranking holds all that the list holds.

## The first relevant document

In four queries it stands at rank 3, 1, 5, and nowhere.

```python
labels = [0, 0, 1, 0, 0] + [1, 0, 0, 0, 0] + [0, 0, 0, 0, 1] + [0, 0, 0, 0, 0]
results = fastir.evaluate_ranked(labels, [0, 5, 10, 15, 20], "mrr")
print(results.per_query("mrr"), results["mrr"])
```

Their mean is {=results["mrr"]:.3f}.

## Precision does not see the order, average precision does

```python
A, B = [1, 1, 1, 0, 0], [0, 0, 1, 1, 1]
for metric in ("precision@5", "map", "ndcg", "bpref"):
    print(f"{metric:<12}", value(A, metric), value(B, metric))
print(fastir.explain_ranked(B, "map"))
```

The average precision of the second is ({=1/3:.3f} + {=2/4:.3f} + {=3/5:.3f}) / 3 = {=value(B, "map"):.3f}. That is
the area under its curve of precision against recall, where the recall grows by 1/3 at each relevant document:

```python
curve = fastir.precision_recall_curve({"q": {"c": 1, "d": 1, "e": 1}}, {"q": dict(zip("abcde", [5., 4., 3., 2., 1.]))})
recall, precision, rank = curve.raw("q")
print(rank.tolist(), precision.tolist(), curve.area("q"))
```

The sum goes to the cutoff and is divided by the number of all relevant documents; one text lets it run to N, another to
the end of the list. With the cutoff 2 and three relevant documents the divisor can be one of three numbers:

```python
labels = [1, 0, 1, 0, 0, 1]
for metric in ("map@2", "map(ap_norm=min_kR)@2", "map(ap_norm=hits)@2"):
    print(f"{value(labels, metric):.4f}  {metric}")
```

## Expected reciprocal rank

A document of label l satisfies with the probability (2^l - 1) / 2^m, where m is the top of the grading scale. A text
takes the largest label of the list for m; the value then depends on which other labels are there. This is the list of
above with its two judged documents.

```python
labels = [3, 2, 3, 0, 1, 2]
print(fastir.explain_ranked(labels, "err"))
for metric in ("err", "err(max_grade=3)", "err(max_grade=query)", "nerr@6", "nerr(max_grade=3)@6"):
    print(f"{of_all(metric):.4f}  {metric}")
```

## A query without relevant documents

It counts as 0, or it is left out. TF-Ranking left it out in its first versions; since then it has counted.

```python
labels, offsets = [0, 1, 0, 0, 0], [0, 3, 5]
for empty in ("zero", "skip", "one"):
    print(f"{empty:<5}", fastir.evaluate_ranked(labels, offsets, "ndcg", empty=empty)["ndcg"])
```

## AUC of short lists

The area under the ROC curve is the share of pairs, of a relevant document and another, that stand in the right order.
It asks for both kinds, and short lists often lack one: the first two of the second list have no relevant document.
Then it is undefined and leaves the mean, or it counts as 0.

```python
labels, offsets = [1, 0, 1, 0, 0, 0, 1], [0, 4, 7]
for metric in ("auc", "auc@3", "auc@2", "auc(one_class=zero)@2"):
    results = fastir.evaluate_ranked(labels, offsets, metric)
    print(f"{results[metric]:.4f}  {metric:<22}", results.per_query(metric))
```

## Words and formulas that do not agree

A page on metrics writes rank-biased precision with relevance 0 or 1, its program adds up the labels; trec_eval scales
them to 1. It divides bpref by R, its program by the smaller one of R and the number of documents judged not relevant.

```python
for metric in ("rbp(p=0.8)", "rbp(p=0.8, gains=raw)", "rbp(p=0.8, gains=scaled)"):
    print(f"{value([2, 0, 1], metric):.3f}  {metric}")
for metric in ("bpref", "bpref(bpref_norm=R)"):
    print(f"{value([0, 1, 1, 1], metric):.3f}  {metric}")
```

Its formula of DCG lacks the sum over the ranks, and what it calls `r_precision` is `r-precision` to its program; both
names are read here. What others call hit rate is the success at the same cutoff, and not the number of hits:

```python
for metric in ("hit_rate@3", "success_3", "hits@3", "r_precision", "r-precision"):
    print(f"{value([0, 1, 1], metric):g}  {metric}")
```
"""


def page(text: str = PAGE) -> str:
    """The text of worked_examples.md."""
    names: dict[str, Any] = {}
    parts = re.split(r"(```python\n.*?```\n)", text, flags=re.DOTALL)
    codes = parts[1::2]
    done = []
    for place, part in enumerate(parts):
        if place % 2:
            done += [part, printed(codes[place // 2], names)]
        else:
            done.append(re.sub(r"\{=(.+?):(\.\d+f)\}", lambda found: format(eval(found[1], names), found[2]), part))
    return "".join(done)


def printed(code: str, names: dict[str, Any]) -> str:
    """What a block of code prints, as a block of text; nothing if it prints nothing."""
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(code.removeprefix("```python\n").removesuffix("```\n"), names)
    return f"\n```text\n{output.getvalue()}```\n" if output.getvalue() else ""


if __name__ == "__main__":
    sys.stdout.write(page())
