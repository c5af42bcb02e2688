"""The Settings of metrics for rankings whose order is fixed: rules of another order are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastir.errors import quote
from fastir.request.names import UnknownMetricError
from fastir.request.options import TIES, Options
from fastir.request.plan import (
    AS_GIVEN,
    ID_PROPERTIES,
    SAMPLED,
    WEIGHTED,
    Settings,
    compile_settings,
    resolved_convention,
)

if TYPE_CHECKING:
    from fastir.request.conventions import Convention
    from fastir.request.provenance import Provenance

ORDER_RULES = ("ties", "score_dtype", "duplicates")  # that decide where documents stand


def compile_fixed(
    metrics: tuple[str, ...], options: Options, order: dict[str, Any]
) -> tuple[Settings, list[tuple[list[int], Settings]]]:
    """The Settings of the metrics, and those of each set of rules among them, with its columns.

    Parameters
    ----------
    metrics, options : as for `compile_settings`
    made : dict
        A value for each of RULES, None where it is not known, or where no document stood twice.
    """
    if options.convention == "fastir":
        refuse_others("", {name: getattr(options, name) for name in ORDER_RULES}, order)
        options = options.replace(**{name: value for name, value in order.items() if value is not None})
    settings = compile_settings(metrics, options)
    if not settings.parts:
        refuse_others(f"convention {options.convention}: ", order_rules(settings), order)
        return settings, [(list(range(len(settings.names))), settings)]
    parts = []
    for requests, rules, read in settings.parts:
        text = quote(requests[0].text)
        if read != AS_GIVEN:
            needed = ID_PROPERTIES[read] if read in (SAMPLED, WEIGHTED) else "the ids or the scores of documents"
            raise UnknownMetricError(f"metric {text} needs {needed}, which judged rankings do not have")
        part = compile_settings(tuple(request.text for request in requests), options.replace(**rules))
        refuse_others(f"metric {text}: ", order_rules(part), order)
        parts.append(([settings.requests.index(request) for request in requests], part))
    return settings, parts


def order_rules(settings: Settings) -> dict[str, Any]:
    """A value for each of RULES."""
    single = "float32" if settings.single else "float64"
    return dict(zip(ORDER_RULES, (TIES[settings.ties], single, settings.options.duplicates), strict=True))


def refuse_others(who: str, wanted: dict[str, Any], order: dict[str, Any]) -> None:
    for name, value in order.items():
        if value is not None and wanted[name] not in (None, value):
            raise ValueError(
                f"{who}{name}={wanted[name]!r}, but these rankings were judged with {name}={value!r}; judge the run "
                "again"
            )


def refuse_exclusion(convention: str | Convention, provenance: Provenance, excluded: bool) -> None:
    """Refuse a convention that leaves other documents out than those that were left out when the run was judged.

    `excluded` says whether there were any. An `exclude` of the caller's own holds for all conventions.
    """
    record, judged_by = resolved_convention(convention, {}), provenance.convention
    if record.exclude is not None and "exclude" not in provenance.inputs:
        raise ValueError(
            f"convention {record.name}: exclude={record.exclude!r}, but these rankings were judged with exclude=None; "
            "judge the run again"
        )
    if record.exclude is None and judged_by.exclude is not None and excluded:
        raise ValueError(
            f"convention {record.name}: exclude=None, but these rankings were judged with "
            f"exclude={judged_by.exclude!r}, by convention {judged_by.name}; judge the run again"
        )
