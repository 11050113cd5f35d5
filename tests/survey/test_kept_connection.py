"""A server may close a kept connection while the next question is on its way: it is asked once more, on a new one."""

import socket
import threading

import pytest

from rpcbench.model.node import Node
from rpcbench.model.workload import Call
from rpcbench.survey.rehearsal import rehearse

CALLS = [Call(7, 0, b'{"jsonrpc":"2.0","id":7,"method":"m"}'), Call(8, 0, b'{"jsonrpc":"2.0","id":8,"method":"m"}')]


@pytest.fixture
def closing_server():
    """Answers one request on every connection, as if it would keep it, and hangs up on the next; counts connections."""
    listener = socket.create_server(("127.0.0.1", 0))
    accepted = []

    def serve():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            accepted.append(connection)
            threading.Thread(target=answer_once, args=(connection,), daemon=True).start()

    def answer_once(connection):
        with connection:
            request = connection.recv(65536)
            while b'"method"' not in request:
                request += connection.recv(65536)
            body = b'{"jsonrpc":"2.0","id":%d,"result":1}' % (7 if b'"id":7' in request else 8)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
            connection.recv(65536)

    thread = threading.Thread(target=serve)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}", accepted
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


def test_a_question_that_met_a_closing_connection_is_asked_once_more(closing_server):
    url, accepted = closing_server
    (rehearsal,) = rehearse([Node("a", url)], CALLS)
    assert not rehearsal.failed, rehearsal.message
    assert len(accepted) == 2
