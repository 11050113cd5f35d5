"""The only writer under results/."""
