"""Embedded nodes for the demo and the tests."""
