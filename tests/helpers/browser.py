"""A real browser for the tests of pages: chromium without a window, told what to do through a pipe.

Its commands and events are those of the Chrome DevTools Protocol: JSON texts, each ended by a zero byte.
"""

import contextlib
import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_PATIENCE = 240  # seconds for all that is done with a page, on a machine with much else to do


def find_browser() -> str:
    """Return chromium's path; without one skip the test, or fail it where MDFUZZY_NEEDS_BROWSER=1 is set."""
    found = next((path for path in map(shutil.which, _NAMES) if path), None)
    if found is None:
        words = f"no browser: none of {', '.join(_NAMES)} is installed"
        if os.environ.get("MDFUZZY_NEEDS_BROWSER") == "1":
            pytest.fail(f"{words}, but MDFUZZY_NEEDS_BROWSER=1 says that there must be one")
        pytest.skip(words)
    return found


class Browser:
    """A running browser: commands go out, answers and events come in."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers = commands, answers
        self._unread, self._number = b"", 0
        self._deadline = time.monotonic() + _PATIENCE
        self.session: str | None = None
        self.events: list[dict] = []

    def ask(self, method: str, **parameters: object) -> dict:
        """Give a command and return its answer; events that come first are kept in `events`."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method: str) -> None:
        """Wait for an event, unless it has come already."""
        while all(event.get("method") != method for event in self.events):
            self.events.append(self._read())

    def _read(self) -> dict:
        while b"\0" not in self._unread:
            left = self._deadline - time.monotonic()
            assert select.select([self._answers], [], [], max(left, 0))[0], "the browser does not answer"
            new = os.read(self._answers, 1 << 20)
            assert new, "the browser has ended"
            self._unread += new
        text, self._unread = self._unread.split(b"\0", 1)
        return json.loads(text)


@contextlib.contextmanager
def open_browser(folder: Path) -> Iterator[Browser]:
    """Start a browser that keeps its files in `folder` and has no network; end it afterwards."""
    program = find_browser()
    # Chromium reads commands from descriptor 3 and answers on 4; ours are out of the way of these.
    pipes = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for pair in (os.pipe(), os.pipe()) for end in pair]
    read, commands, answers, write = pipes
    command = [
        *("bash", "-c", f'exec "$@" 3<&{read} 4>&{write}', "bash", program, "--remote-debugging-pipe"),
        *(
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-unsafe-swiftshader",
            "--disable-extensions",
        ),
        *(
            "--disable-dev-shm-usage",
            "--window-size=1300,1000",
            "--no-first-run",
            "--proxy-server=127.0.0.1:9",
        ),
        *(f"--user-data-dir={folder / 'profile'}", "about:blank"),
    ]
    with (folder / "browser.log").open("wb") as log:
        running = subprocess.Popen(command, pass_fds=(read, write), stdout=log, stderr=log)
    os.close(read)
    os.close(write)
    try:
        yield Browser(commands, answers)
    finally:
        running.terminate()
        running.wait(timeout=60)
        os.close(commands)
        os.close(answers)


def use_page(page: Path, folder: Path, actions: str) -> dict:
    """Open a page, perform `actions` (JavaScript that fills `findings`), and return the findings.

    Always there: `problems`, all errors and warnings of the console; `fetched`, all that the page asked for.
    """
    with open_browser(folder) as browser:
        targets = browser.ask("Target.getTargets")["targetInfos"]
        target = next(each["targetId"] for each in targets if each["type"] == "page")
        browser.session = browser.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            browser.ask(f"{domain}.enable")
        browser.ask("Page.navigate", url=page.as_uri())
        browser.wait_for("Page.loadEventFired")  # before it the code could run in the empty page
        code = f"(async () => {{ const findings = {{}}; {actions}; return findings; }})()"
        answer = browser.ask("Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
    findings = answer["result"]["value"]
    findings["problems"] = list(filter(None, map(_problem, browser.events)))
    asked = [each["params"]["request"]["url"] for each in browser.events if _is_request(each)]
    findings["fetched"] = [url for url in asked if not url.startswith(("data:", "blob:", page.as_uri()))]
    return findings


def _is_request(event: dict) -> bool:
    return event.get("method") == "Network.requestWillBeSent"


def _problem(event: dict) -> str | None:
    """Return what an event complains of; None if it does not."""
    method, found = event.get("method"), event.get("params", {})
    if method == "Runtime.exceptionThrown":
        return json.dumps(found["exceptionDetails"])
    if method == "Runtime.consoleAPICalled" and found["type"] in ("error", "warning"):
        return json.dumps(found["args"])
    if method == "Log.entryAdded" and found["entry"]["level"] == "error":
        return found["entry"]["text"]
    return None
