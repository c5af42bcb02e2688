"""The success of identify over many tables whose settings are hidden: python tests/identify/hidden.py [TABLES]

Of TABLES (200), how many settings are among the first 3 answers; of a quarter as many tables with a random wrong value,
how many have no answer.
"""

import pathlib
import sys
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))

from hidden_settings import table, wrong_table


def main(tables=200):
    warnings.simplefilter("ignore")
    first = 0
    for seed in range(tables):
        found, place, setting = table(seed)
        first += 1 <= place <= 3
        if not 1 <= place <= 3:
            print(f"table {seed}: answer {place} of {len(found)}: {setting}", flush=True)
    none = sum(not len(wrong_table(1000 + seed)) for seed in range(tables // 4))
    print(f"{first} of {tables} settings are among the first 3 answers; {none} of {tables // 4} wrong tables have none")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
