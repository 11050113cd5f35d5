"""From figures to terminal, Markdown, HTML, PNG."""
