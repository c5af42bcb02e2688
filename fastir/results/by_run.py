"""What evaluating many runs returns: Results by the name of the run."""

from __future__ import annotations

import os

from fastir.results.results import Results
from fastir.results.tables import ResultsTable


class ResultsByRun(ResultsTable[Results]):
    """What `evaluate_many` returns: {name: Results} in the order of the runs; it prints as a table of the means."""

    __slots__ = ()
    label = "run"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the results of all runs to one file that `load_results` reads back.

        Parameters
        ----------
        path : str or path
            ``.json``: ``{"runs": {name: what Results.to_json gives}}``; ``.tsv`` and ``.parquet``: one table, as
            `Results.save` writes it, with the column ``run`` before all others.

        Raises
        ------
        ValueError
            The path has another suffix, a name is no str, or Parquet cannot hold an id that is not UTF-8.
        FastirError
            pyarrow is not installed.
        OSError
            The file cannot be written; its old content is untouched.
        """
        from fastir.results.saved import write_runs

        write_runs(path, self)
