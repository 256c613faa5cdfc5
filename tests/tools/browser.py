"""Pages in headless Chromium: the DOM after scripts ran, what was written to the console, and what was asked of the network."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

import pytest

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run", "--no-default-browser-check", "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND", "--window-size=1600,1200", "--virtual-time-budget=10000",
    "--enable-logging=stderr", "--v=0", "--dump-dom",
)  # fmt: skip
BROWSER = "not an origin"
"""Initiator of the browser's own requests in its network log."""


def chromium() -> str:
    """Path of Chromium; where it is missing the test fails in CI, and is skipped elsewhere."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None and os.environ.get("CI") == "true":
        pytest.fail("chromium is missing: .ci/packages must install it")
    if found is None:
        pytest.skip("chromium is not installed: apt-get install chromium")
    return found


@dataclass(frozen=True)
class Element:
    tag: str
    attributes: dict[str, str]

    def has_class(self, name: str) -> bool:
        return name in self.attributes.get("class", "").split()


@dataclass(frozen=True)
class Page:
    """`html`: the DOM as text; `console`: its messages; `requested`: http(s) addresses that the page asked for."""

    html: str
    elements: tuple[Element, ...]
    console: tuple[str, ...]
    requested: tuple[str, ...]

    def of_class(self, name: str) -> list[Element]:
        return [element for element in self.elements if element.has_class(name)]

    def by_id(self, name: str) -> Element:
        found = [element for element in self.elements if element.attributes.get("id") == name]
        assert len(found) == 1, f"{len(found)} elements have the id {name}"
        return found[0]


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(Element(tag, {name: value or "" for name, value in attrs}))


def browse(page: Path, scratch: Path, fragment: str = "", script: str = "") -> Page:
    """Open `page` at `#fragment`, with `script` added at its end; `scratch` is a folder for the browser's files."""
    if script:
        page = _with_script(page, scratch, script)
    log = scratch / "net.json"
    own = (f"--user-data-dir={scratch / 'profile'}", f"--log-net-log={log}", f"{page.resolve().as_uri()}#{fragment}")
    done = subprocess.run([chromium(), *FLAGS, *own], capture_output=True, text=True, timeout=120, check=True)
    parser = _Elements()
    parser.feed(re.sub(r"<script\b.*?</script>", "", done.stdout, flags=re.DOTALL))
    console = tuple(line for line in done.stderr.splitlines() if ":CONSOLE" in line)
    return Page(done.stdout, tuple(parser.found), console, _requested(log))


def _requested(log: Path) -> tuple[str, ...]:
    """Addresses that a page asked for; the browser's own requests (for updates, its clock) have no page as initiator."""
    parameters = [event.get("params", {}) for event in json.loads(log.read_text())["events"]]
    asked = [entry["url"] for entry in parameters if entry.get("initiator", BROWSER) != BROWSER and "url" in entry]
    return tuple(url for url in dict.fromkeys(asked) if url.startswith("http"))


def _with_script(page: Path, scratch: Path, script: str) -> Path:
    changed = scratch / "with_script.html"
    changed.write_text(page.read_text().replace("</body>", f"<script>{script}</script></body>"))
    return changed


def told(page: Page) -> object:
    """What an added script left in the attribute `data-told` of the root element, as JSON."""
    root = next(element for element in page.elements if element.tag == "html")
    return json.loads(root.attributes["data-told"])


TELL = "const tell = (value) => { document.documentElement.dataset.told = JSON.stringify(value); };"
