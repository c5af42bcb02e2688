# Functions in C only.

# Functions in C only.
