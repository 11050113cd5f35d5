"""The hot path: sending, pacing, recording."""
