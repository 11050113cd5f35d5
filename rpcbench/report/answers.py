"""What is answered, and what must not be: an invalid comparison keeps no figure, and names no winner, from here on."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rpcbench.analysis.comparison import PRIMARY
from rpcbench.model.verdict import Analysis, Comparison, Notice, Summary, Verdict, Weight
from rpcbench.report import sentences
from rpcbench.report.foreign import tame


@dataclass(frozen=True, slots=True)
class Answer:
    """One sentence of the answer. `verdict` is None where nothing was compared; `reasons` say why it is INVALID."""

    call: str
    verdict: Verdict | None
    sentence: str
    reasons: tuple[Notice, ...] = ()


def void_run(analysis: Analysis) -> tuple[Notice, ...]:
    """The notices that void the whole run."""
    return tuple(n for n in analysis.notices if n.weight is Weight.VOID and n.call is None)


def consistent(analysis: Analysis) -> Analysis:
    """An invalid run has no valid comparison, and an invalid comparison has no figures to quote."""
    return replace(
        analysis,
        comparisons=tuple(
            replace(
                c,
                verdict=Verdict.INVALID,
                ratio=None,
                difference_ms=None,
                difference_share=None,
                detectable=None,
                more_rounds=None,
            )
            if c.verdict is Verdict.INVALID or not analysis.valid
            else c
            for c in analysis.comparisons
        ),
    )


def headline(analysis: Analysis) -> tuple[Comparison, ...]:
    """The comparisons the answer is made of, one per call and node: the median, or else the first metric."""
    chosen: dict[tuple[str, str], Comparison] = {}
    for c in analysis.comparisons:
        if c.metric == PRIMARY or (c.call, c.other) not in chosen:
            chosen[c.call, c.other] = c
    return tuple(chosen.values())


def answers(analysis: Analysis) -> tuple[Answer, ...]:
    """One sentence per comparison, or per call where there is but one node.

    Where the whole run is void its reasons are told once, and an answer without reasons of its own would add nothing.
    """
    if analysis.comparisons:
        given = [_compared(c, analysis) for c in headline(analysis)]
    else:
        given = [_alone(s, analysis) for s in analysis.summaries]
    void = bool(void_run(analysis))
    return tuple(a for a in given if not (void and a.verdict is Verdict.INVALID and not a.reasons))


def _compared(comparison: Comparison, analysis: Analysis) -> Answer:
    reasons: tuple[Notice, ...] = ()
    if comparison.verdict is Verdict.INVALID:
        reasons = _voiding(analysis, comparison.call, (comparison.base, comparison.other))
        if not reasons and comparison.reason and not void_run(analysis):
            reasons = (Notice("not_compared", Weight.VOID, comparison.reason, "", ""),)
    return Answer(tame(comparison.call), comparison.verdict, sentences.sentence(comparison), reasons)


def _alone(summary: Summary, analysis: Analysis) -> Answer:
    reasons = _voiding(analysis, summary.call, (summary.node,))
    if reasons or not analysis.valid:
        return Answer(tame(summary.call), Verdict.INVALID, sentences.doubted(summary), reasons)
    return Answer(tame(summary.call), None, sentences.alone(summary))


def _voiding(analysis: Analysis, call: str, nodes: tuple[str, ...]) -> tuple[Notice, ...]:
    return tuple(
        n
        for n in analysis.notices
        if n.weight is Weight.VOID and n.call == call and (n.node is None or n.node in nodes)
    )


def tamed(notice: Notice, known: str = "") -> Notice:
    """The notice fit to print, beginning with whom it concerns unless its own words, or the place it is in, say so."""
    node, call, saw = (text and tame(text) for text in (notice.node, notice.call, notice.saw))
    scope = [name for name in (node, call) if name and name not in (saw or "") and name != known]
    told = ", ".join(scope) + (": " if scope else "") + (saw or "")
    return replace(notice, node=node, call=call, saw=told, why=tame(notice.why), advice=tame(notice.advice))
