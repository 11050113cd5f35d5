"""Embedded nodes: a synthetic chain behind real HTTP, for the demo and the tests. Only cli and tests import it."""
