"""Drop-in replacements for other tools, one file each: change an import, or patch the tool's own entry points.

    from fastir.compat import pytrec_eval           the replacement by itself

    import fastir.compat
    fastir.compat.install("beir")                   code that calls BEIR gets fastir from here on
    fastir.compat.uninstall("beir")                 and its own again
    with fastir.compat.patched("beir", "mteb"):     fastir for a while

Training code calls `fastir.compat.lightgbm` and `fastir.compat.xgboost`, and imports the classes of
`fastir.compat.torchmetrics`. CatBoost has no replacement, because its custom metrics do not get the queries: call
``fastir.evaluate_scores(labels, scores, metrics, qid=group_id, convention="catboost")`` between trainings.

In        the calls of another tool, with its argument names, defaults and types
Out       the return values of that tool, with the same keys, types and numbers
Validates each layer checks what its tool checks, with the tool's exceptions; the core checks the rest
Allocates a layer copies no run; it hands the caller's objects to the core
Raises    the tool's exceptions where callers rely on them, else the core's errors

A layer is imported when it is named. Only the functions that need the tool import it. The layers use the core, which
does not import them.

beir, ir_measures, mteb, pytrec_eval, ranx, sentence_transformers, sklearn, trec_eval    evaluation tools
haystack, llama_index, mlflow, ragas    evaluation of retrieval for generation, from lists of ids
pyserini, pyvespa, recbole    evaluators of engines' and recommenders' toolkits
lightgbm, xgboost, torchmetrics, ptranking    metrics during training
entry_points    install, uninstall and patched, and the attributes that they replace
_id_lists    lists of ids as labels in rank order, and their values
_rows        from a dict of dicts to values in the order of its queries, and to dicts of floats
"""

from fastir.compat.entry_points import PATCHES, importing, install, patched, uninstall


def __getattr__(name: str) -> object:
    """The drop-in of a name, imported when it is read."""
    import importlib
    import pkgutil

    modules = [module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")]
    if name in modules:
        return importlib.import_module(f"{__name__}.{name}")
    from fastir.checks import suggest_choice
    from fastir.request.habits import missing_error

    def message(name: str) -> str:
        hint = "" if name.startswith("_") else suggest_choice(name, modules) or f"; it has {', '.join(modules)}"
        return f"module {__name__!r} has no attribute {name!r}{hint}"

    raise missing_error(__name__, name, message)


__all__ = ("PATCHES", "importing", "install", "patched", "uninstall")
