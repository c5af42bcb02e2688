"""Chromium without a window, told what to do through the pipe of its own tools: real keys, many pages, one process."""

import contextlib
import itertools
import json
import os
import shutil
import subprocess
import time

from processes import moments

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)


class Page:
    """A page of a browser that is running."""

    def __init__(self, call):
        self.call = call

    def value(self, script):
        """What an expression of JavaScript comes to."""
        return self.call("Runtime.evaluate", expression=script)["result"].get("value")

    def wait_for(self, script, seconds=20):
        """The value of an expression once it is neither undefined nor false; None if it stays so."""
        with contextlib.suppress(TimeoutError):
            for _ in moments(seconds):
                if value := self.value(script):
                    return value
                time.sleep(0.02)
        return None

    def press(self, key, code, text=""):
        """A key, down and up."""
        event = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", **event, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)


@contextlib.contextmanager
def page_at(address, folder):
    """A page of a new browser, whose files lie in a folder."""
    to_browser, from_test = os.pipe()
    from_browser, to_test = os.pipe()

    def pipes():
        ends = [os.dup(end) for end in (to_browser, to_test)]  # 3 and 4 may be ends of these pipes themselves
        os.dup2(ends[0], 3)
        os.dup2(ends[1], 4)

    options = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={folder}"]
    command = [BROWSER, *options, "about:blank"]
    browser = subprocess.Popen(command, preexec_fn=pipes, close_fds=False, stderr=subprocess.DEVNULL)
    os.close(to_browser)
    os.close(to_test)
    numbers = itertools.count(1)
    with browser, os.fdopen(from_browser, "rb") as answers, os.fdopen(from_test, "wb") as orders:

        def call(method, session=None, **values):
            order = {"id": next(numbers), "method": method, "params": values}
            orders.write(json.dumps(order | ({"sessionId": session} if session else {})).encode() + b"\0")
            orders.flush()
            while True:
                answer = json.loads(b"".join(iter(lambda: answers.read(1), b"\0")))
                if answer.get("id") == order["id"]:
                    return answer["result"]

        try:
            target = call("Target.createTarget", url=address)["targetId"]
            session = call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            yield Page(lambda method, **values: call(method, session, **values))
        finally:
            browser.kill()
