"""The node seen from outside."""
