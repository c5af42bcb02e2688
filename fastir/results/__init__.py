"""(contract to be written)"""

from fastir.results.results import Report, Results, ResultsTable

__all__ = ["Report", "Results", "ResultsTable"]
