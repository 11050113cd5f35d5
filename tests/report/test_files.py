"""The derived files: all of them, readable, and made once."""

import io

import pandas as pd
import pytest

from rpcbench.model.verdict import Verdict
from rpcbench.report import figures
from rpcbench.report.files import render_all
from tests.report.made import CONSTANT_REPLY, make_analysis, make_info, make_run


@pytest.fixture(scope="module")
def run():
    return make_run(rounds=4, per_trial=100, trial_ns=1_000_000_000, fail=0.05)


def written(run, analysis) -> dict[str, bytes]:
    files = {}
    for path, write in render_all(make_info(), run, analysis):
        buffer = io.BytesIO()
        write(buffer)
        files[path] = buffer.getvalue()
    return files


def test_every_file_is_there_and_holds_what_it_says(run):
    analysis = make_analysis(run)
    files = written(run, analysis)
    csvs = ["requests.csv", "summary.csv", "compare.csv", "timeline.csv"]
    plots = ["plots/latency-distribution.png", "plots/latency-over-time.png", "plots/round-ratios.png"]
    assert list(files) == [*csvs, "report.md", *plots, "report.html"]
    assert all(files[path].startswith(b"\x89PNG") for path in plots)
    assert files["report.html"].startswith(b"<!doctype html>")
    assert files["report.md"].startswith(b"## mixed")
    requests = pd.read_csv(io.BytesIO(files["requests.csv"]))
    assert len(requests) == sum(len(t.samples.rows) for t in run.trials)
    assert set(pd.read_csv(io.BytesIO(files["compare.csv"]))["verdict"]) == {
        c.verdict.value for c in analysis.comparisons
    }


def test_the_csvs_give_the_reports_quantiles(run):
    analysis = make_analysis(run)
    requests = pd.read_csv(io.BytesIO(written(run, analysis)["requests.csv"]))
    good = requests[(requests.phase == "measure") & (requests.status == "ok")]
    medians = good.groupby(["call", "node"]).latency_ms.median()
    for s in analysis.summaries:
        assert medians[s.call, s.node] == pytest.approx(s.latency_ms.p50, abs=1e-6)


def test_each_picture_is_drawn_once(run, monkeypatch):
    drawn = []
    real = figures.draw
    monkeypatch.setattr(figures, "draw", lambda path, *rest: drawn.append(path) or real(path, *rest))
    written(run, make_analysis(run))
    assert len(drawn) == len(set(drawn)) == 3


def test_an_invalid_call_has_no_winner_in_any_text(run):
    analysis = make_analysis(run, CONSTANT_REPLY, verdicts=(Verdict.INVALID, Verdict.INVALID))
    files = written(run, analysis)
    assert "plots/round-ratios.png" not in files
    for path in ("report.md", "report.html"):
        text = files[path].decode().split("</style>")[-1]
        assert "INVALID" in text
        assert not any(word in text for word in ("faster", "slower", "times as"))


def test_nothing_is_made_before_it_is_written(run, monkeypatch):
    monkeypatch.setattr(figures, "draw", lambda *_: pytest.fail("drawn too early"))
    assert len(list(render_all(make_info(), run, make_analysis(run)))) == 9
