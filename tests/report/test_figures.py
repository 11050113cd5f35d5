"""The plots: they draw what the run holds, say what they cannot draw, and stay fast."""

import time
from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.text import Text

from rpcbench.model.verdict import Verdict
from rpcbench.report import figures
from rpcbench.report.canvas import png
from rpcbench.report.document import DISTRIBUTION, OVER_TIME, ROUND_RATIOS, pictures
from tests.report.made import make_analysis, make_run

BLUE, RED = "#0072b2", "#d55e00"


def pixels(data: bytes) -> np.ndarray:
    return imread(BytesIO(data), format="png")[..., :3]


def words(figure: Figure) -> list[str]:
    return [t.get_text() for t in figure.findobj(Text) if t.get_text()]


@pytest.fixture(scope="module")
def run():
    return make_run(rounds=6, per_trial=200, trial_ns=2_000_000_000)


@pytest.fixture(scope="module")
def analysis(run):
    return make_analysis(run)


@pytest.mark.parametrize("path", [DISTRIBUTION, OVER_TIME, ROUND_RATIOS])
def test_each_picture_is_a_png_with_both_nodes_in_it(path, run, analysis):
    drawn = pixels(figures.draw(path, run, analysis))
    height, width, _ = drawn.shape
    assert 1000 <= width <= 2000
    assert 300 <= height <= 3000
    packed = (drawn * 255).round().astype(int) @ [65536, 256, 1]
    counts = {f"#{c:06x}": n for c, n in zip(*np.unique(packed, return_counts=True), strict=True)}
    assert counts["#ffffff"] > packed.size * 0.3
    seen = {BLUE, RED} if path != ROUND_RATIOS else {RED}
    assert all(counts.get(colour, 0) > 100 for colour in seen)


def test_the_distribution_has_a_curve_and_marks_per_node(run, analysis):
    figure = figures.distribution(run, analysis)
    assert [a.get_title("left") for a in figure.axes] == ["getBlockWithTxs", "getEvents"]
    for axes, call in zip(figure.axes, ("getBlockWithTxs", "getEvents"), strict=True):
        curves, marks = axes.lines[0::2], axes.lines[1::2]
        assert [line.get_color() for line in curves] == [BLUE, RED]
        assert axes.get_xscale() == "log"
        summaries = [s.latency_ms for s in analysis.summaries if s.call == call]
        shown = [line.get_xdata() for line in marks]
        np.testing.assert_allclose(shown, [[q.p50, q.p90, q.p99] for q in summaries])


def test_places_without_a_call_stay_blank():
    run = make_run(calls=tuple("abcde"), rounds=1, per_trial=100)
    axes = figures.distribution(run, make_analysis(run)).axes
    assert [a.axison for a in axes] == [True] * 5 + [False]


def test_a_curve_passes_through_its_own_quantiles(run, analysis):
    axes = figures.distribution(run, analysis).axes[0]
    curve, marks = axes.lines[0], axes.lines[1]
    at_median = np.interp(0.0, curve.get_ydata(), curve.get_xdata())  # log odds of one half
    assert at_median == pytest.approx(marks.get_xdata()[0], rel=0.01)


def test_time_runs_over_the_whole_run_with_a_strip_per_trial(run, analysis):
    figure = figures.over_time(run, analysis)
    top = figure.axes[0]
    end_s = (run.trials[-1].samples.started_unix_ns - run.trials[0].samples.started_unix_ns) / 1e9 + 2
    assert top.get_xlim() == pytest.approx((0, end_s))
    assert len(top.patches) >= 2 * len(run.trials)
    assert {"round 1", "2", "6"} <= set(words(figure))


def test_a_bin_holds_the_median_of_its_own_seconds(run, analysis):
    trial = next(t for t in run.trials if t.trial.round == 1)
    samples = trial.samples
    mine = samples.answered & (samples.rows["call"] == 0) & (samples.rows["done_ns"] < 500_000_000)
    expected = np.median(samples.latency_ns[mine] / 1e6)
    strip = figures._Strip.cut(run, trial, 0, 0.5)
    assert strip.p50[0] == pytest.approx(expected)
    assert len(strip.p50) == 4


def test_stragglers_do_not_make_a_bin_of_their_own():
    run = make_run(rounds=1, per_trial=100, trial_ns=1_000_000_000)
    trial = run.trials[-1]
    trial.samples.rows["done_ns"][-3:] = 1_400_000_000
    assert len(figures._Strip.cut(run, trial, 0, 0.5).p50) == 2


def test_failed_requests_are_crossed_where_they_happened(analysis):
    run = make_run(rounds=2, per_trial=50, trial_ns=1_000_000_000)
    failing = run.trials[3]
    failing.samples.rows["status"] = 3
    figure = figures.over_time(run, make_analysis(run))
    crosses = [line for line in figure.axes[0].lines if line.get_marker() == "x" and len(line.get_xdata())]
    assert len(crosses) == 1
    start = (failing.samples.started_unix_ns - run.trials[0].samples.started_unix_ns) / 1e9
    assert start < min(crosses[0].get_xdata())
    assert max(crosses[0].get_xdata()) < start + 1


def test_every_round_is_a_dot_beside_its_estimate(run, analysis):
    axes = figures.round_ratios(run, analysis).axes[0]
    dots = [line for line in axes.lines if line.get_marker() == "o" and len(line.get_xdata()) > 1]
    assert [len(line.get_xdata()) for line in dots] == [6, 6]
    for line, comparison in zip(dots, analysis.comparisons, strict=True):
        assert np.exp(np.log(line.get_xdata()).mean()) == pytest.approx(comparison.ratio.value)
    low, high = axes.get_xlim()
    assert low < 1 < high


def test_an_invalid_call_is_marked_and_has_no_ratio(run):
    analysis = make_analysis(run, verdicts=(Verdict.SLOWER, Verdict.INVALID))
    ratios = figures.round_ratios(run, analysis)
    said = words(ratios)
    assert "INVALID, not compared" in said
    assert sum("slower" in text for text in said) == 1
    assert len([line for line in ratios.axes[0].lines if line.get_marker() == "o"]) == 1
    titles = [a.get_title("left") for a in figures.distribution(run, analysis).axes]
    assert titles == ["getBlockWithTxs", "getEvents  INVALID, not compared"]


def test_a_call_without_a_ratio_is_undecided_and_not_invalid(run, analysis):
    first, second = analysis.comparisons
    bare = replace(second, ratio=None, verdict=Verdict.UNDECIDED)
    said = words(figures.round_ratios(run, replace(analysis, comparisons=(first, bare))))
    assert "undecided" in said
    assert not any("INVALID" in text for text in said)


def test_no_ratios_are_drawn_where_nothing_is_compared(run):
    analysis = make_analysis(run, verdicts=(Verdict.INVALID, Verdict.INVALID))
    assert [p.path for p in pictures(run, analysis)] == [DISTRIBUTION, OVER_TIME]


def test_a_simulated_run_is_stamped_on_every_picture(run, analysis):
    simulated = replace(run, simulated=True)
    for draw in (figures.distribution, figures.over_time, figures.round_ratios):
        said = words(draw(simulated, analysis))
        assert "SIMULATED" in said
        assert any("not how these clients perform" in text for text in said)
        assert "SIMULATED" not in words(draw(run, analysis))


def test_nothing_answered_is_said_and_not_drawn():
    run = make_run(rounds=2, per_trial=20, fail=1.0)
    for path in (DISTRIBUTION, OVER_TIME):
        assert pixels(figures.draw(path, run, make_analysis(run))).std() > 0
    assert words(figures.distribution(run, make_analysis(run))).count("no request was answered") == 2


@pytest.mark.parametrize(("nodes", "calls"), [(2, 1), (3, 2), (4, 6)])
def test_no_two_texts_overlap(nodes, calls):
    run = make_run(
        nodes=("juno", "pathfinder", "papyrus", "a-node-with-quite-a-long-name-x")[:nodes],
        calls=tuple(f"getTransactionReceipt{i}" for i in range(calls)),
        rounds=5,
        per_trial=120,
        fail=0.05,
    )
    analysis = make_analysis(run)
    for draw in (figures.distribution, figures.over_time, figures.round_ratios):
        assert overlaps(draw(run, analysis)) == []


def overlaps(figure: Figure) -> list[tuple[str, str]]:
    """Pairs of texts that touch, and texts that leave the paper."""
    figure.set_dpi(60)
    png(figure)  # lays out
    seen = [t for t in figure.findobj(Text) if t.get_visible() and t.get_text().strip()]
    hidden = {t for axes in figure.axes for axis in (axes.xaxis, axes.yaxis) for t in undrawn(axis)}
    boxes = [(t.get_text(), t.get_window_extent().padded(-1)) for t in seen if t not in hidden]
    paper = figure.bbox.padded(2)
    outside = [(text, "edge") for text, box in boxes if not (paper.contains(*box.min) and paper.contains(*box.max))]
    return outside + [(a, b) for i, (a, x) in enumerate(boxes) for b, y in boxes[i + 1 :] if x.overlaps(y)]


def undrawn(axis: Axis) -> list[Text]:
    """Tick labels beyond the limits of their axis are kept by matplotlib and not drawn."""
    low, high = sorted(axis.get_view_interval())
    return [tick.label1 for tick in axis.get_major_ticks() if not low <= tick.get_loc() <= high]


def test_odd_names_are_drawn_without_complaint():
    run = make_run(nodes=("_hidden", "$\\frac{1}$", "节点", "<b>"), calls=("$x$", "_y"), rounds=2, per_trial=40)
    analysis = make_analysis(run)
    for picture in pictures(run, analysis):
        assert pixels(figures.draw(picture.path, run, analysis)).std() > 0
    said = words(figures.distribution(run, analysis))
    assert any("$\\frac{1}$" in text for text in said)
    assert any("_hidden" in text for text in said)


def test_a_million_rows_are_drawn_in_seconds():
    run = make_run(rounds=10, per_trial=50_000)
    analysis = make_analysis(make_run(rounds=10, per_trial=100))
    assert sum(len(t.samples.rows) for t in run.trials) > 1_000_000
    started = time.process_time()
    figure = figures.distribution(run, analysis)
    figures.over_time(run, analysis)
    figures.round_ratios(run, analysis)
    assert time.process_time() - started < 6
    assert max(len(line.get_xdata()) for line in figure.axes[0].lines) <= 1000
