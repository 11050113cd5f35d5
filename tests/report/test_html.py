"""report.html: self-contained, escaped, and clear about what must not be believed."""

import re
from dataclasses import replace
from html.parser import HTMLParser

from rpcbench.model.verdict import Estimate, Notice, Verdict
from rpcbench.report import html
from rpcbench.report.document import build
from tests.report.made import (
    CONSTANT_REPLY,
    GENERATOR_BUSY,
    HEAD_MOVED,
    PARAMS_REFUSED,
    make_analysis,
    make_info,
    make_run,
)

PIXEL = b"\x89PNG\r\n\x1a\n"


class Page(HTMLParser):
    """Tags with their attributes, the text, and whether every element was closed in order."""

    VOID = frozenset({"meta", "link", "img", "br"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def rendered(*notices: Notice, verdicts: tuple[Verdict, ...] = (), **changes: object) -> str:
    run = make_run(**{"rounds": 4, "per_trial": 60, **changes})
    document = build(make_info(), run, make_analysis(run, *notices, verdicts=verdicts))
    return html.render(document, {picture.path: PIXEL for picture in document.pictures})


def test_intervals_of_each_node_are_on_the_page():
    run = make_run(rounds=4, per_trial=60)
    first, *others = make_analysis(run).summaries
    interval = {"p50": Estimate(2.31, 2.2, 2.4, 0.95, 90)}
    analysis = replace(make_analysis(run), summaries=(replace(first, latency_intervals_ms=interval), *others))
    page = Page(html.render(build(make_info(), run, analysis), {}))
    assert "Latency of each node" in page.text
    assert "2.31 ms [2.20 ms, 2.40 ms]" in page.text
    assert [
        a["class"] for tag, a in page.tags if tag == "table" and a["class"] in {"nodes", "latencies", "comparisons"}
    ] == ["nodes", "latencies", "comparisons"]


def test_the_page_is_well_formed_and_fetches_nothing():
    text = rendered(HEAD_MOVED, CONSTANT_REPLY, verdicts=(Verdict.SLOWER, Verdict.INVALID), fail=0.1, simulated=True)
    page = Page(text)
    links = [v for _, attrs in page.tags for k, v in attrs.items() if k in {"src", "href", "action", "data", "srcset"}]
    assert links
    assert all(link and link.startswith("data:") for link in links)
    assert not re.search(r"url\(|@import|https?://", text)
    assert not {"script", "iframe", "object", "form"} & {tag for tag, _ in page.tags}


def test_pictures_are_inside_with_words_for_those_who_cannot_see_them():
    images = [attrs for tag, attrs in Page(rendered()).tags if tag == "img"]
    assert len(images) == 3
    assert all(image["src"].startswith("data:image/png;base64,iVBORw0KGgo") for image in images)
    assert all("juno" in image["alt"] for image in images)


def test_foreign_text_cannot_become_markup():
    script = "<script>alert(1)</script>"
    names = (script, '"><img src=x onerror=alert(1)>')
    notice = replace(HEAD_MOVED, saw=script, why=script, advice="{{ 7*7 }}", node=names[0])
    text = rendered(notice, nodes=names, calls=("<b>a</b>", "b"), fail=0.1)
    page = Page(text)
    assert not {"script", "b"} & {tag for tag, _ in page.tags}
    assert not any("onerror" in attrs for _, attrs in page.tags)
    assert script in page.text
    assert "{{ 7*7 }}" in page.text


def test_an_invalid_call_names_no_winner():
    text = Page(rendered(PARAMS_REFUSED, CONSTANT_REPLY, verdicts=(Verdict.INVALID, Verdict.INVALID))).text
    assert "INVALID getEvents is not compared between pathfinder and juno" in text
    assert "one constant reply to 4,812 different requests" in text
    assert not re.search(r"faster|slower|times as|× \d\.\d", text)


def test_a_void_run_has_one_clear_banner_and_no_winner():
    page = Page(rendered(GENERATOR_BUSY))
    banners = [attrs for tag, attrs in page.tags if attrs.get("class") == "stop"]
    assert len(banners) == 1
    assert "INVALID this run names no winner the generator used 99 % of its core" in page.text
    assert not re.search(r"faster|slower|times as", page.text)


def test_a_simulated_page_says_so_at_the_top_and_at_the_bottom():
    expected = "simulated nodes: figures show how rpcbench works, not how these clients perform"
    page = Page(rendered(simulated=True))
    assert page.text.count(expected) == 2
    assert "simulated" in page.text[: page.text.index("mixed: juno") + 60]
    assert expected not in Page(rendered()).text


def test_a_page_for_an_empty_run():
    run = replace(make_run(rounds=1, per_trial=5, interrupted=True), trials=())
    analysis = replace(make_analysis(make_run(rounds=1, per_trial=5)), summaries=(), comparisons=())
    page = Page(html.render(build(make_info(), run, analysis), {}))
    assert "Nothing was measured." in page.text
    assert "interrupted before the first trial" in page.text


def test_it_suits_dark_rooms_phones_and_paper():
    text = rendered()
    for words in ("prefers-color-scheme: dark", "max-width: 34rem", "@media print", 'name="viewport"'):
        assert words in text
