"""What takes a process of its own: start-up, command lines, peak memory."""

import os
import subprocess
import sys

# Byte code may be kept, as it is where a package was installed.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

# Linux's own figure, set back before the call: ru_maxrss begins with what the process that started this one used.
PEAK = """
def peak():
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
{prepare}
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
before = peak()
{call}
print((peak() - before) / 1024)
"""


def python(*arguments):
    """What a new interpreter prints."""
    return subprocess.run([sys.executable, *arguments], env=ENVIRONMENT, stdout=subprocess.PIPE, check=True).stdout


def peak_memory(prepare, call):
    """Megabytes (2^20 bytes) by which a call raises the peak of a new process that has run `prepare`; needs Linux."""
    return float(python("-W", "ignore", "-c", PEAK.format(prepare=prepare, call=call)))
