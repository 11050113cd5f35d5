"""Pure: from samples to figures with intervals."""
