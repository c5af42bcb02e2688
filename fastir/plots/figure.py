"""The figure on which pictures are drawn: what it saves as PDF or PostScript has TrueType fonts (type 42).

Publishers refuse matplotlib's own choice, type 3. The setting is one of rcParams, which hold while a file is written
and are as before once it is.
"""

from __future__ import annotations

import io
from typing import Any

import matplotlib
import matplotlib.figure


class Figure(matplotlib.figure.Figure):
    """A figure of matplotlib's."""

    def _repr_png_(self) -> bytes:
        """What a notebook shows, also where pyplot was not imported."""
        picture = io.BytesIO()
        self.savefig(picture, format="png", bbox_inches="tight")
        return picture.getvalue()

    def savefig(self, *args: Any, **options: Any) -> None:
        """Save the figure, with fonts that publishers accept."""
        with matplotlib.rc_context({"pdf.fonttype": 42, "ps.fonttype": 42}):
            super().savefig(*args, **options)
