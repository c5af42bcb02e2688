"""The entry points of tools, and fastir's drop-in replacements of the same name."""

import contextlib
import functools
import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

from fastir.checks import letters, suggest_choice


def patch_names(module: str, names: str) -> tuple[str, ...]:
    return tuple(f"{module}:{name}" for name in names.split())


# The attributes that are replaced for a tool, each by the object of the same name in the layer's file. A function that
# other modules have imported by name is listed once more for each of them.
PATCHES: dict[str, tuple[str, ...]] = {
    "pytrec_eval": ("pytrec_eval:RelevanceEvaluator",),
    "beir": patch_names("beir.retrieval.evaluation", "EvaluateRetrieval.evaluate EvaluateRetrieval.evaluate_custom"),
    "haystack": tuple(
        f"haystack.components.evaluators.document_{name.lower()}:Document{name}Evaluator.run"
        for name in ("MRR", "MAP", "Recall", "NDCG")
    ),
    "ir_measures": ("ir_measures:DefaultPipeline.providers",),
    "llama_index": tuple(
        f"llama_index.core.evaluation.retrieval.metrics:{name}.compute"
        for name in ("HitRate", "MRR", "Precision", "Recall", "AveragePrecision", "NDCG")
    ),
    "mlflow": tuple(
        f"{module}:{name}_at_k"
        for module in ("mlflow.metrics", "mlflow.models.evaluation.evaluators.default")
        for name in ("precision", "recall", "ndcg")
    ),
    "mteb": (
        "mteb._evaluators.retrieval_evaluator:calculate_retrieval_scores",
        "mteb.tasks.instruction_retrieval.eng.instruct_ir:robustness_at_10",
        "mteb.tasks.reranking.eng.nev_ir:paired_accuracy",
        "mteb.tasks.reranking.eng.mind_small_reranking:max_over_subqueries",
        "mteb.tasks.retrieval.eng.lmeb_retrieval:recall_cap",
        *(
            f"mteb.tasks.instruction_reranking.eng.{name}_instruction_retrieval:evaluate_p_mrr_change"
            for name in ("core17", "news21", "robust04")
        ),
        "mteb.tasks.instruction_reranking.multilingual.m_follow_ir:evaluate_p_mrr_change",
        *patch_names(
            "mteb._evaluators.retrieval_metrics",
            "calculate_retrieval_scores calculate_pmrr evaluate_p_mrr_change evaluate_abstention max_over_subqueries "
            "paired_accuracy robustness_at_10 recall_cap top_k_accuracy mrr hole",
        ),
    ),
    "pyserini": ("pyserini.eval.trec_eval:trec_eval",),
    "pyvespa": ("vespa.evaluation._base:VespaEvaluator._compute_metrics",),
    "ragas": tuple(
        f"ragas.metrics.{name}:IDBasedContext{what}._single_turn_ascore"
        for name, what in (("_context_precision", "Precision"), ("_context_recall", "Recall"))
    ),
    "ranx": ("ranx:evaluate", "ranx.meta.compare:evaluate"),
    "recbole": ("recbole.evaluator.evaluator:Evaluator.evaluate",),
    "sentence_transformers": (
        "sentence_transformers.sentence_transformer.evaluation:InformationRetrievalEvaluator.compute_metrics",
    ),
    "sklearn": tuple(
        f"{module}:{name}"
        for module in ("sklearn.metrics", "sklearn.metrics._ranking")
        for name in ("ndcg_score", "dcg_score", "label_ranking_average_precision_score")
    ),
}
# The names of tools on PyPI, if they differ; the oldest version that behaves like the layer, if an older one does not.
PACKAGES = {
    "haystack": "haystack-ai",
    "ir_measures": "ir-measures",
    "llama_index": "llama-index-core",
    "pytrec_eval": "pytrec-eval-terrier",
    "sentence_transformers": "sentence-transformers",
    "sklearn": "scikit-learn",
}
OLDEST_VERSIONS = {"mteb": (2, 26, 6), "sentence_transformers": (6, 0, 0)}
originals: dict[tuple[int, str], tuple[Any, Any]] = {}  # (owner, what it had) by its id and the attribute's name


def install(*tools: str) -> None:
    """Replace the entry points of tools by fastir's, for modules that have imported them and modules that will.

    Parameters
    ----------
    *tools : str
        Such as "pytrec_eval", which is what BEIR, MTEB and ir_measures call, "beir" or "mteb", which are replaced as a
        whole; the name of the module or of the package. Installing twice changes nothing.

    Raises
    ------
    ValueError
        fastir has no replacement for this tool, or no tool is named.
    ImportError
        The tool is not installed, or too old, or has no such entry point. Then nothing is replaced.
    """
    if not tools:
        raise ValueError(f"install needs the name of a tool, such as {', '.join(map(repr, PATCHES))}")
    for owner, name, stand_in in replacements(tools):
        originals.setdefault((id(owner), name), (owner, inspect.getattr_static(owner, name)))
        setattr(owner, name, stand_in)


def uninstall(*tools: str) -> None:
    """Give tools their own entry points back, for modules that have imported them and modules that will.

    Parameters
    ----------
    *tools : str
        As for `install`; none: all that were installed. A tool that was not installed is left alone.

    Raises
    ------
    ValueError
        fastir has no replacement for this tool.
    ImportError
        The tool is not installed.
    """
    places = [(id(owner), name) for owner, name, _ in replacements(tools)] if tools else list(originals)
    for place in places:
        if place in originals:
            owner, original = originals.pop(place)
            setattr(owner, place[1], original)


@contextlib.contextmanager
def patched(*tools: str) -> Iterator[None]:
    """`install` for the length of a with block; it changes the tools' own modules, and so affects all threads."""
    places = replacements(tools)
    before = [inspect.getattr_static(owner, name) for owner, name, _ in places]
    installed = dict(originals)
    try:
        install(*tools)
        yield
    finally:
        for (owner, name, _), original in zip(places, before, strict=True):
            setattr(owner, name, original)
            place = (id(owner), name)
            if place in installed:
                originals[place] = installed[place]
            else:
                originals.pop(place, None)


def replacements(tools: tuple[str, ...]) -> list[tuple[Any, str, Any]]:
    """(owner, name of its attribute, replacement), for all entry points of some tools."""
    patches = []
    for tool in map(module_name, tools):
        if tool not in PATCHES:
            raise ValueError(
                f"tool must be one of {', '.join(map(repr, PATCHES))}, got {tool!r}{suggest_choice(tool, PATCHES)}"
            )
        for place in PATCHES[tool]:
            module, _, path = place.partition(":")
            *outer, name = path.split(".")
            try:
                owner = functools.reduce(getattr, outer, importing(module, tool))
                original = inspect.getattr_static(owner, name)
            except AttributeError:
                raise ImportError(
                    f"{tool} {version(tool)} is installed, which has no {place}; fastir.compat.{tool} "
                    "says what it was compared with"
                ) from None
            layer = importlib.import_module(f"fastir.compat.{tool}")
            stand_in = functools.reduce(getattr, outer, layer) if outer and hasattr(layer, outer[0]) else layer
            stand_in = getattr(stand_in, name)
            patches.append((owner, name, staticmethod(stand_in) if isinstance(original, staticmethod) else stand_in))
    return patches


def module_name(tool: str) -> str:
    """The module of a tool that is named by it or by its package, with hyphens or underscores; else the word itself."""
    spellings = {letters(package): module for module, package in PACKAGES.items()}
    spellings.update((letters(module), module) for module in PATCHES)
    return spellings.get(letters(tool), tool) if isinstance(tool, str) else tool


def importing(module: str, tool: str) -> Any:
    """A module of a tool, or the error that says what to install."""
    try:
        imported = importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = PACKAGES.get(tool, tool)
        raise ImportError(f"fastir.compat: {tool} cannot be imported ({error}); pip install {package}") from error
    if tool in OLDEST_VERSIONS and tuple(map(int, re.findall("[0-9]+", version(tool))[:3])) < OLDEST_VERSIONS[tool]:
        raise ImportError(
            f"fastir.compat: {tool} {version(tool)} is installed, but "
            f"{'.'.join(map(str, OLDEST_VERSIONS[tool]))} or later is needed, as others compute something else"
        )
    return imported


def version(tool: str) -> str:
    from importlib import metadata

    return metadata.version(PACKAGES.get(tool, tool))
