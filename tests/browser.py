"""A real browser for the tests of pages: chromium without a window, driven by a script inside the page.

A copy of the page gets two scripts. The first notes every error from the start. The second waits until the
page is drawn, does what a person would do, and leaves its findings as JSON in the page, which chromium prints
when all is quiet.
"""

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

_WATCH = """<script>
window.problems = [];
addEventListener("error", (event) => problems.push(String(event.message ?? event.target)), true);
addEventListener("unhandledrejection", (event) => problems.push(`rejected: ${event.reason}`));
addEventListener("securitypolicyviolation", (event) => problems.push(`fetched: ${event.blockedURI}`));
for (const level of ["error", "warn"]) {
  const original = console[level];
  console[level] = (...words) => { problems.push(words.join(" ")); original(...words); };
}
</script>"""

_ACT = """<script>
(async () => {
  const pause = (time) => new Promise((done) => setTimeout(done, time));
  const findings = {};
  try {
    for (let wait = 0; document.body.dataset.ready !== "yes" && wait < 600; wait++) await pause(100);
    findings.ready = document.body.dataset.ready === "yes";
    await (async (findings, pause) => { %s })(findings, pause);
  } catch (error) {
    problems.push(`${error.stack ?? error}`);
  }
  findings.problems = problems;
  findings.fetched = performance.getEntriesByType("resource").map((entry) => entry.name);
  const place = document.createElement("pre");
  place.id = "findings";
  place.textContent = JSON.stringify(findings);
  document.body.replaceChildren(place); // the rest would only have to be printed
  document.querySelectorAll("style, script").forEach((element) => element.remove());
})();
</script>"""


def find_browser() -> str:
    """Return chromium's path; without one skip the test, or fail it where MDFUZZY_NEEDS_BROWSER=1 is set."""
    found = next((path for path in map(shutil.which, _NAMES) if path), None)
    if found is None:
        words = f"no browser: none of {', '.join(_NAMES)} is installed"
        if os.environ.get("MDFUZZY_NEEDS_BROWSER") == "1":
            pytest.fail(f"{words}, but MDFUZZY_NEEDS_BROWSER=1 says that there must be one")
        pytest.skip(words)
    return found


def use_page(page: Path, folder: Path, actions: str) -> dict:
    """Open a copy of a page, perform `actions` (JavaScript that fills `findings`), and return the findings.

    Always there: `ready`, whether the page was drawn; `problems`, all errors and warnings of the console, and
    what the page was forbidden to fetch; `fetched`, what it did fetch.
    """
    browser = find_browser()
    text = page.read_text(encoding="utf-8")
    assert text.count("<head>") == text.count("</body>") == 1, "the page is not what the scripts are made for"
    copy = folder / "used.html"
    text = text.replace("<head>", f"<head>{_WATCH}").replace("</body>", _ACT % actions + "</body>")
    copy.write_text(text, encoding="utf-8")
    command = [
        *(browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader"),
        *("--disable-dev-shm-usage", "--disable-extensions", "--hide-scrollbars", "--window-size=1300,1000"),
        *(f"--user-data-dir={folder / 'profile'}", "--proxy-server=127.0.0.1:9"),  # the network is not there
        *("--virtual-time-budget=120000", "--dump-dom", copy.as_uri()),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    found = re.search(r'<pre id="findings">(.*?)</pre>', done.stdout, flags=re.DOTALL)
    assert found, f"the page did not come to an end:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return json.loads(html.unescape(found.group(1)))
