"""Samples to figures, comparisons, notices and a verdict. Pure: no files, sockets or clocks."""
