"""`rpcbench check`: the survey alone."""

from __future__ import annotations

import sys

from rpcbench.cli import options as opt
from rpcbench.cli import transport as way


def check(
    node_names: opt.NodeNames,
    nodes_file: opt.NodesFile = None,
    header: opt.Header = [],  # noqa: B006
    max_lag: opt.MaxLag = 5,
    ca_file: opt.CaFile = None,
    insecure: way.Insecure = False,
    cert: way.CertFile = None,
    key: way.KeyFile = None,
    proxy: way.Proxy = None,
) -> None:
    """Ask the nodes who and where they are, and whether they can be compared. A handful of quiet questions."""
    from rpcbench.config.nodes_file import resolve_nodes
    from rpcbench.report import terminal
    from rpcbench.report.survey_view import show_survey
    from rpcbench.survey.survey import ask, judge

    nodes = resolve_nodes(node_names, nodes_file, extra_headers=opt.parse_headers(header))
    survey = ask(nodes, None, max_lag=max_lag, route=way.route(ca_file, insecure, cert, key, proxy))
    show_survey(survey.facts, terminal.console(sys.stdout), notices=survey.notices)
    judge(survey)
