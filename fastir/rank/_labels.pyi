KINDS: tuple[str, ...]
