"""The metric step of ir_measures: six measures of a dict run, aggregated, by the default pipeline."""

import ir_measures


def prepare(qrels, run):
    measures = [ir_measures.parse_measure(name) for name in ("AP", "nDCG", "RR", "nDCG@10", "R@100", "P@10")]
    return lambda: {str(measure): value for measure, value in ir_measures.calc_aggregate(measures, qrels, run).items()}
