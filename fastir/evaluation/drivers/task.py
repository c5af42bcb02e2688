"""Task: what the driver of every shape takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

if TYPE_CHECKING:
    from numpy import ndarray

    from fastir.evaluation.drivers.prepared import PreparedQrels
    from fastir.inputs.files import Watch


class Task(NamedTuple):
    """One run to evaluate under one set of rules.

    Attributes
    ----------
    prepared : PreparedQrels
    run : object
        Of the shape of the driver.
    values : float64 array of shape (n_queries, n_metrics)
        Filled by the driver.
    status : uint8 array of shape (n_queries,)
        The driver fills in each status that an empty ranking does not have.
    n_threads : int or None
    watch : function or None
        ``watch(position)`` is called at every block of a file or a Run.
    min_missing_queries : int or None
        If at least so many queries are missing from a run in memory, only its own queries get `values` and `status`;
        their positions are the Coverage's `rows`. None: all queries get them.
    """

    prepared: PreparedQrels
    run: Any
    values: ndarray
    status: ndarray
    n_threads: SupportsIndex | None
    watch: Watch | None
    min_missing_queries: int | None = None

    def with_run(self, run: Any) -> Task:
        """This task for a run of another shape."""
        return self._replace(run=run)
