"""`rpcbench check`: the survey alone."""

from __future__ import annotations

from rpcbench.cli import options as opt


def check(
    node_names: opt.NodeNames,
    nodes_file: opt.NodesFile = None,
    header: opt.Header = [],  # noqa: B006
    max_lag: opt.MaxLag = 5,
    ca_file: opt.CaFile = None,
) -> None:
    """Ask the nodes who and where they are, and whether they can be compared. A handful of quiet questions."""
    from rpcbench.config.nodes_file import resolve_nodes
    from rpcbench.report.survey_view import print_survey
    from rpcbench.survey.survey import ask, judge

    nodes = resolve_nodes(node_names, nodes_file, extra_headers=opt.parse_headers(header))
    survey = ask(nodes, None, max_lag=max_lag, ca_file=str(ca_file) if ca_file else None)
    print_survey(survey.facts, survey.notices)
    judge(survey)
