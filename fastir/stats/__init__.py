"""fastir.stats: paired tests on plain arrays."""
