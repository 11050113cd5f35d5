"""The class, code and digest of replies; most bodies are what real nodes sent."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rpcbench.model.samples import Status
from rpcbench.protocol import classify as classify_module
from rpcbench.protocol.classify import WHOLE_BYTES, Reply, StreamedReply, classify


def judged(body: bytes | str, http_status: int = 200, *, retry_after: bool = False, call_id: int = 1) -> Reply:
    return classify(http_status, retry_after, body.encode() if isinstance(body, str) else body, call_id)


def streamed(body: bytes, pieces: list[int], http_status: int = 200, call_id: int = 1) -> Reply:
    """The same body, cut at `pieces`."""
    reply = StreamedReply(call_id)
    start = 0
    for end in [*sorted(min(piece, len(body)) for piece in pieces), len(body)]:
        piece = bytearray(body[start:end])
        reply.feed(memoryview(piece))
        piece[:] = b"\xff" * len(piece)  # the caller reuses its buffer
        start = end
    return reply.finish(http_status, retry_after=False)


LARGE = json.dumps([{"block_number": n, "hash": "0x%064x" % (n * 7919)} for n in range(400)], separators=(",", ":"))
assert len(LARGE) > 2 * WHOLE_BYTES


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('{"jsonrpc":"2.0","id":1,"result":"0x539"}', (Status.OK, 0)),
        ('{"id":1,"jsonrpc":"2.0","result":160}', (Status.OK, 0)),
        ('{"jsonrpc":"2.0","result":false,"id":1}\n', (Status.OK, 0)),
        ('{"jsonrpc":"2.0","id":1,"result":0,"error":null}', (Status.OK, 0)),
        ('{"jsonrpc":"2.0","id":1,"result":null}', (Status.NULL_RESULT, 0)),
        ('{"error":{"code":29,"message":"Transaction hash not found"},"id":1,"jsonrpc":"2.0"}', (Status.RPC_ERROR, 29)),
        (
            '{"error":{"code":-32602,"data":{"reason":"unexpected fields: \\"fromBlock\\" for \\"filter\\""},'
            '"message":"Invalid params"},"id":1,"jsonrpc":"2.0"}',
            (Status.RPC_ERROR, -32602),
        ),
        ('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}', (Status.RPC_ERROR, -32700)),
        ('{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":-32000,"message":"x"}}', (Status.RPC_ERROR, -32000)),
        ('{"jsonrpc":"2.0","id":1,"result":7,"error":{"code":-32000,"message":"x"}}', (Status.RPC_ERROR, -32000)),
        ('{"jsonrpc":"2.0","id":1,"error":"it broke"}', (Status.RPC_ERROR, 0)),
        ('{"jsonrpc":"2.0","id":1,"error":{"code":9999999999,"message":7}}', (Status.RPC_ERROR, 2**31 - 1)),
        ('{"jsonrpc":"2.0","id":1,"error":{"code":"E7"}}', (Status.RPC_ERROR, 0)),
    ],
)
def test_class_of_a_body(body, expected):
    assert judged(body)[:2] == expected


@pytest.mark.parametrize("code", [3, 40, 41])
def test_a_revert_is_an_answer_whatever_the_contract_says(code):
    error = {"code": code, "message": "execution reverted: rate exceeded"}
    reply = judged(json.dumps({"jsonrpc": "2.0", "id": 1, "error": error}))
    assert reply[:2] == (Status.REVERTED, code)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<html><body>502 Bad Gateway</body></html>",
        "null",
        "[]",
        '[{"jsonrpc":"2.0","id":1,"result":1}]',
        '{"jsonrpc":"2.0","id":1}',
        '{"jsonrpc":"2.0","id":1,"error":null}',
        '{"jsonrpc":"2.0","id":2,"result":1}',
        '{"jsonrpc":"2.0","result":1}',
        '{"jsonrpc":"2.0","id":"1","result":1}',
        '{"jsonrpc":"2.0","id":true,"result":1}',
        '{"jsonrpc":"2.0","id":null,"result":1}',
        '{"jsonrpc":"2.0","id":2,"error":{"code":3,"message":"reverted"}}',
        '{"jsonrpc":"2.0","id":1,"result":[1,2',
        '{"jsonrpc":"2.0","id":1,"result":1}{"jsonrpc":"2.0","id":1,"result":1}',
        b'{"jsonrpc":"2.0","id":1,"result":"\xff\xfe"}',
        b'{"jsonrpc":"2.0","id":1,"result":' + b"[" * 5000 + b"}",
    ],
)
def test_what_is_no_reply_to_this_request(body):
    assert judged(body)[:2] == (Status.BAD_REPLY, 200)


@pytest.mark.parametrize(
    ("http_status", "retry_after", "expected"),
    [
        (429, False, Status.RATE_LIMITED),
        (402, False, Status.RATE_LIMITED),
        (503, True, Status.RATE_LIMITED),
        (503, False, Status.HTTP_ERROR),
        (500, True, Status.HTTP_ERROR),
        (401, False, Status.HTTP_ERROR),
        (301, False, Status.HTTP_ERROR),
    ],
)
@pytest.mark.parametrize("body", ["", "<html>", '{"jsonrpc":"2.0","id":1,"result":1}', '{"id":1,"error":{"code":-1}}'])
def test_http_status_comes_first(http_status, retry_after, expected, body):
    assert judged(body, http_status, retry_after=retry_after)[:2] == (expected, http_status)


@pytest.mark.parametrize("http_status", [200, 400, 500])
@pytest.mark.parametrize(
    ("code", "message"),
    [
        (-32005, "whatever"),
        (429, "whatever"),
        (402, "whatever"),
        (-32603, "VM throughput limit reached"),
        (-32000, "Your app has exceeded its compute units per second capacity"),
        (-32000, "project ID request rate exceeded"),
        (-32000, "daily request count exceeded, request rate limited"),
        (-32000, "Too Many Requests"),
        (-32097, "rate-limit: 100 per second"),
    ],
)
def test_rate_limits_in_the_body(http_status, code, message):
    body = json.dumps({"jsonrpc": "2.0", "error": {"code": code, "message": message}})
    assert judged(body, http_status)[:2] == (Status.RATE_LIMITED, code)


@pytest.mark.parametrize(
    "message", ["gas limit exceeded", "exceeded maximum retry of the VM", "capacity overflow", "Cap exceeded"]
)
def test_other_limits_are_plain_errors(message):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": message}})
    assert judged(body)[:2] == (Status.RPC_ERROR, -32000)


ENVELOPES = [
    '{"jsonrpc":"2.0","id":%d,"result":%s}',
    '{"id":%d,"jsonrpc":"2.0","result":%s}',
    '{"jsonrpc":"2.0","id":%d,"error":null,"result":%s}',
    '{ "jsonrpc" : "2.0" , "id" : %d , "result" : %s }\r\n',
    '{"jsonrpc":"2.0","id":%d,"result":%s,"elapsed_ms":3}',
]
ENVELOPES_WITH_THE_ID_LAST = [
    '{"jsonrpc":"2.0","result":%s,"id":%d}',
    '{"result":%s,"id":%d,"jsonrpc":"2.0"}',
    '{"result":%s,"error":null,"id":%d,"jsonrpc":"2.0"}',
    '{"jsonrpc":"2.0",\n"result": %s ,\n "id": %d\n}\n',
    '{"jsonrpc":"2.0","result":%s,"id":%d,"elapsed_ms":3}',
]


def in_every_envelope(result: str, call_id: int) -> list[bytes]:
    first = [form % (call_id, result) for form in ENVELOPES]
    last = [form % (result, call_id) for form in ENVELOPES_WITH_THE_ID_LAST]
    return [body.encode() for body in first + last]


@pytest.mark.parametrize("result", ['"0x1"', "[]", '{"a":{"id":1}}', LARGE, json.dumps("0x" + "ab" * WHOLE_BYTES)])
def test_the_digest_is_of_the_result_alone(result):
    replies = {judged(body, call_id=n) for n in (1, 987_654_321) for body in in_every_envelope(result, n)}
    assert replies == {Reply(Status.OK, 0, classify_module._digest(result.encode()))}


@pytest.mark.parametrize("size", range(WHOLE_BYTES - 120, WHOLE_BYTES + 20))
def test_the_digest_does_not_jump_where_streaming_begins(size):
    result = '"' + "x" * (size - 2) + '"'
    replies = {judged(body) for body in in_every_envelope(result, 1)}
    assert replies == {Reply(Status.OK, 0, classify_module._digest(result.encode()))}


@pytest.mark.parametrize("step", [1, 700, 2_047, 2_048, 5_000])
def test_small_pieces_add_up(step):
    result = LARGE[:24_001] + '"}]'
    body = f'{{"jsonrpc":"2.0","result":{result},"id":1}}'.encode()
    pieces = list(range(0, len(body), step))
    assert streamed(body, pieces) == Reply(Status.OK, 0, classify_module._digest(result.encode()))


@pytest.mark.parametrize("before", ['"meta":{"result":5}', '"meta":"\\"result\\":5"', '"meta":[{"result":[1]}]'])
def test_a_result_inside_another_member_is_not_the_result(before):
    body = f'{{"jsonrpc":"2.0",{before},"id":1,"result":{LARGE}}}'
    assert judged(body) == Reply(Status.OK, 0, classify_module._digest(LARGE.encode()))


def test_different_results_differ():
    changed = LARGE.replace("0x0", "0x1", 1)
    assert judged(f'{{"id":1,"result":{LARGE}}}').digest != judged(f'{{"id":1,"result":{changed}}}').digest


def test_errors_have_a_digest_of_the_error_object():
    error = '{"code":-32602,"message":"Invalid params"}'
    bodies = ['{"error":%s,"id":1,"jsonrpc":"2.0"}', '{"jsonrpc":"2.0","id":1,"error":%s}', '{"id":1,"error" : %s }']
    assert {judged(body % error) for body in bodies} == {
        Reply(Status.RPC_ERROR, -32602, classify_module._digest(error.encode()))
    }


@pytest.mark.parametrize(
    "form",
    [
        '{"jsonrpc":"2.0","id":1,"result":%s,"error":{"code":-32000,"message":"%s"}}',
        '{"jsonrpc":"2.0","result":%s,"error":{"code":-32000,"message":"%s","data":{"a":[{"id":1}]}},"id":1}',
        '{"jsonrpc":"2.0","result":%s,"id":1,"error":{"code":-32000,"message":"%s"}}\n',
    ],
)
@pytest.mark.parametrize("message", ["gone", "stream broke } , ] " * 60])
@pytest.mark.parametrize("result", [LARGE, f'{{"block":{LARGE}}}'])
def test_an_error_behind_a_large_result_is_seen(form, message, result):
    assert judged(form % (result, message))[:2] == (Status.RPC_ERROR, -32000)


@pytest.mark.parametrize(
    "form",
    [
        '{"error":{"code":-32000,"message":"x","data":%s},"id":1}',
        '{"jsonrpc":"2.0","id":1,"error":{"data":%s,"code":-32000}}',
        '{"error":{"code":-32000},"id":1,"result":%s}',
    ],
)
def test_a_large_error_is_seen(form):
    assert judged(form % LARGE)[:2] == (Status.RPC_ERROR, -32000)


def test_error_members_inside_a_large_result_are_data():
    traces = json.dumps([{"error": "Reverted", "id": 7, "calls": [{"error": "out of gas"}]}] * 400)
    assert judged(f'{{"jsonrpc":"2.0","id":1,"result":{traces}}}') == Reply(
        Status.OK, 0, classify_module._digest(traces.encode())
    )


@pytest.mark.parametrize(
    "body",
    [
        f'{{"jsonrpc":"2.0","id":1,"result":{LARGE}',
        f'{{"jsonrpc":"2.0","id":1,"result":{LARGE[:-1]}}}',
        f'{{"jsonrpc":"2.0","id":1,"result":{LARGE[:-2]}',
        f'{{"jsonrpc":"2.0","id":1,"result":{LARGE[:-30]}',
        f'{{"jsonrpc":"2.0","id":2,"result":{LARGE}}}',
        f'{{"jsonrpc":"2.0","result":{LARGE}}}',
        f'{{"jsonrpc":"2.0","result":{LARGE},"id":2}}',
        f'{{"jsonrpc":"2.0","id":1,"result":{LARGE}}} trailing',
        f'{{"jsonrpc":"2.0","id":1,"answer":{LARGE}}}',
        LARGE,
        "x" * 3 * WHOLE_BYTES,
    ],
)
def test_large_bodies_that_are_no_reply(body):
    assert judged(body)[:2] == (Status.BAD_REPLY, 200)


def test_a_large_body_under_an_http_error():
    assert judged("<p>" * WHOLE_BYTES, 502)[:2] == (Status.HTTP_ERROR, 502)


json_text = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6) | st.sampled_from(["id", "error", "result"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "error", "result", "jsonrpc", "a"]), inner, max_size=3)
    ),
    max_leaves=8,
).map(json.dumps)
splits = st.lists(st.integers(0, 60_000), max_size=6)


@given(result=json_text, filler=st.sampled_from([0, 10, 3_000, WHOLE_BYTES, 40_000]), form=st.integers(0, 9), at=splits)
@settings(max_examples=150, deadline=None)
def test_every_split_of_every_envelope_is_judged_alike(result, filler, form, at):
    padded = f'[{result},"{"f" * filler}",{result}]'
    body = in_every_envelope(padded, 1)[form]
    expected = Reply(Status.OK, 0, classify_module._digest(padded.encode()))
    assert judged(body) == expected
    assert streamed(body, at) == expected


@given(
    start=st.sampled_from([b"", b'{"id":1,"result":', b'{"error":', b"{", b'{"result":"']),
    middle=st.binary(max_size=40),
    repeat=st.sampled_from([0, 1, 500, 3_000]),
    end=st.binary(max_size=20) | st.sampled_from([b"}", b'],"id":1}', b',"error":{}}', b',"id":1', b"\n}"]),
    at=splits,
    http_status=st.sampled_from([200, 204, 429, 503]),
)
@example(start=b'{"id":1,"result":', middle=b" ", repeat=40_000, end=b"}", at=[], http_status=200)
@example(start=b'{"result":', middle=b',"error":', repeat=3_000, end=b"}", at=[1], http_status=200)
@settings(max_examples=150, deadline=None)
def test_no_bytes_raise_and_splits_never_matter(start, middle, repeat, end, at, http_status):
    body = start + middle * repeat + end
    whole = judged(body, http_status)
    assert streamed(body, at, http_status) == whole
    assert whole.status in Status
    assert -(2**31) <= whole.code < 2**31
    assert 0 <= whole.digest < 2**64


def test_a_large_body_is_not_held():
    reply = StreamedReply(1)
    reply.feed(b'{"jsonrpc":"2.0","id":1,"result":["' + b"x" * 100_000)
    for _ in range(50):
        reply.feed(b"y" * 10_000)
    assert len(reply._held) < WHOLE_BYTES
