"""The report as one HTML file that needs nothing else: no network, no script, pictures inside.

The template escapes everything by itself: node names and error texts are foreign.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping

from rpcbench.model.verdict import Verdict, Weight
from rpcbench.report import sentences
from rpcbench.report.document import Document


def render(document: Document, pngs: Mapping[str, bytes]) -> str:
    """The whole page; `pngs` holds the pictures by their path in the document, and one that is missing is left out."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("rpcbench.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    sources = {path: f"data:image/png;base64,{b64encode(png).decode()}" for path, png in pngs.items()}
    return environment.get_template("report.html.j2").render(
        document=document, sources=sources, Verdict=Verdict, Weight=Weight, no_winner=sentences.NO_WINNER
    )
