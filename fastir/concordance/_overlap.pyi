# Functions in C only.
