KINDS: frozenset[str]
