"""Stand-ins for other tools, one file each. They stand on the core, which does not know of them."""
