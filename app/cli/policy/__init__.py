"""Which findings of a check count: the chosen rules, comments in the source, the baseline, and pyproject.toml."""
