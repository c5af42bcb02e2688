"""Terrier is started if its archives can be had; if not, tests that need none of it run all the same."""

import pyterrier as pt

try:
    pt.java.init()
except Exception:
    pt.java.init = pt.java.set_log_level = lambda *_, **__: None
