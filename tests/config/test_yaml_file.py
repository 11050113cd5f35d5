"""YAML with line numbers, and the sentences for YAML that is broken."""

from pathlib import Path

import pytest

from rpcbench.config.yaml_file import read_yaml
from rpcbench.errors import SpecError


def write(directory: Path, text: str) -> Path:
    path = directory / "x.yaml"
    path.write_text(text)
    return path


def test_every_value_knows_its_line(tmp_path: Path) -> None:
    file = read_yaml(write(tmp_path, "name: a\ncalls:\n  - method: m\n    params:\n      - 1\n      - {b: 2}\n"))
    assert file.data == {"name": "a", "calls": [{"method": "m", "params": [1, {"b": 2}]}]}
    assert file.line(("calls", 0, "method")) == 3
    assert file.line(("calls", 0, "params", 1, "b")) == 6


def test_a_value_that_is_not_there_has_the_line_of_what_holds_it(tmp_path: Path) -> None:
    file = read_yaml(write(tmp_path, "name: a\ncalls:\n  - params: 1\n"))
    assert file.line(("calls", 0, "method")) == 3
    assert file.line(("nothing", 5)) == 1


def test_words_that_yaml_reads_as_something_else_stay_field_names(tmp_path: Path) -> None:
    assert read_yaml(write(tmp_path, "on: 1\n12: 2\n")).data == {"on": 1, "12": 2}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [1\nb: 2\n", ":2: is not valid YAML: expected ',' or ']', but got ':'"),
        ("a: 1\nb: 'open\n\n", ":2: is not valid YAML: found unexpected end of stream"),
        ("a: 1\n\t- b\n", ":2: is not valid YAML: found character '\\t'"),
        ("a: b: c\n", ":1: is not valid YAML: mapping values are not allowed here"),
        ("a: 1\n---\nb: 2\n", ":2: is not valid YAML"),
        ("a: 1\nb:\n  c: 1\n  c: 2\n", ":4: field `b.c`: is already on line 3; keep one of the two"),
        ("a: &x [*x]\n", ":1: the alias leads back into itself"),
        ("[1, 2]: 3\n", ":1: a field's name must be a word"),
        ("a: 1\nb: 2024-99-99\n", ":2: field `b`: looks like a date"),
        ("a: !!python/name:os.system\n", ":1: is not valid YAML: could not determine a constructor"),
        ("", ":1: is empty"),
        ("- 1\n- 2\n", ":1: is no mapping"),
        ("a: \x01\n", " is not valid YAML: it holds a control character"),
        ("[" * 5000, " is not valid YAML: it holds a control character or is nested too deeply"),
    ],
)
def test_broken_yaml_is_told_with_file_and_line(tmp_path: Path, text: str, words: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(SpecError) as caught:
        read_yaml(path)
    assert str(caught.value).startswith(f"{path}{words}")


def test_long_quotations_are_kept_out_of_messages(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        read_yaml(write(tmp_path, "a: *topsecret\n"))
    assert "topsecret" not in str(caught.value)


def test_unreadable_files_are_told(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"cannot read .*: Is a directory"):
        read_yaml(tmp_path)
    (tmp_path / "latin.yaml").write_bytes(b"a: \xe9\n")
    with pytest.raises(SpecError, match="is not text in UTF-8"):
        read_yaml(tmp_path / "latin.yaml")
