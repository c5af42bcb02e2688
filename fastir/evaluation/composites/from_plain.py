"""What evaluators have in common whose values follow from those of one PlainEvaluator and from the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Self, SupportsIndex

from fastir.evaluation.drivers.evaluate_one import Job, PlainEvaluator, RunValues

if TYPE_CHECKING:
    from fastir.inputs.files import Watch
    from fastir.request.options import Duplicates


class FromPlain:
    """Evaluates runs by `answer`, which is called with the values of `plain`."""

    plain: PlainEvaluator

    @property
    def jobs(self) -> list[Job]:
        """What is measured together with other metrics."""
        return [(self.plain, None)]

    def for_rows(self, rows: Any, columns: Mapping[str, str] | None, duplicates: Duplicates | None) -> Self:
        """This evaluator for a run of these rows, as they were before a Run was made of them."""
        return self

    def begin(self) -> tuple[list[Job], Callable[..., RunValues]]:
        """The jobs of a call, and what makes the result of `measure` of a run, n_threads and the values of each."""
        return self.jobs, self.answer

    def measure(self, run: Any, n_threads: SupportsIndex | None, watch: Watch | None = None) -> RunValues:
        """Evaluate a run like `PlainEvaluator.measure`."""
        jobs, answer = self.begin()
        return answer(run, n_threads, *(plain.measure(run, n_threads, watch) for plain, _ in jobs))

    def answer(self, run: Any, n_threads: SupportsIndex | None, plain: RunValues) -> RunValues:
        """The result of `measure`, from the values of the job."""
        raise NotImplementedError

    def evaluators(self) -> list[PlainEvaluator]:
        """The evaluators that decide the order of documents."""
        return [self.plain]
