"""A real browser for tests, driven without a screen: Debian's Chromium."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

from patience import until

CHROMIUM, DRIVER = Path("/usr/bin/chromium"), Path("/usr/bin/chromedriver")
needs_chromium = pytest.mark.skipif(
    not (CHROMIUM.exists() and DRIVER.exists()), reason="script/setup dev installs chromium and its driver"
)


class Browser:
    """A browser with one page."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def open(self, path: Path, fragment: str = "") -> None:
        """Open a file from the disk and wait for its replay; what was logged before is forgotten."""
        self.driver.get("about:blank")
        for kind in ("browser", "performance"):
            self.driver.get_log(kind)
        self.driver.get(path.as_uri() + fragment)
        self.wait("return !!window.replay")

    def wait(self, script: str) -> None:
        """Wait until a script returns true."""
        until(lambda: self.run(script), pause=0.02)

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script and return its value."""
        return self.driver.execute_script(script, *arguments)

    def command(self, name: str, **values: Any) -> Any:
        """Send a command of the DevTools protocol."""
        return self.driver.execute_cdp_cmd(name, values)

    def size(self, width: int, height: int, ratio: float = 1.0, *, phone: bool = False) -> None:
        """Be a screen of this size in CSS pixels, with so many device pixels to one."""
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=ratio,
            mobile=phone,
        )
        self.command("Emulation.setTouchEmulationEnabled", enabled=phone)
        self.run("window.dispatchEvent(new Event('resize'))")

    def prefer(self, **features: str) -> None:
        """Have a reader who prefers these: color_scheme="dark"."""
        wanted = [{"name": f"prefers-{n.replace('_', '-')}", "value": v} for n, v in features.items()]
        self.command("Emulation.setEmulatedMedia", features=wanted)

    def text(self, selector: str) -> str:
        """Return the text of the first element of a selector."""
        content: str = self.run("return document.querySelector(arguments[0]).textContent", selector)
        return content

    def console_messages(self) -> list[str]:
        """List the messages of the page's console since it was opened."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Return the addresses that the page has asked for since it was opened, or since they were asked for here."""
        return [url for url in self._sent(self._messages()).values() if not url.startswith("about:")]

    def refused(self) -> list[str]:
        """Return those of the addresses that the page's own policy has refused to ask for."""
        messages = self._messages()
        failed = [m["params"] for m in messages if m["method"] == "Network.loadingFailed"]
        sent = self._sent(messages)
        return [sent[event["requestId"]] for event in failed if event.get("blockedReason") == "csp"]

    def _messages(self) -> list[dict[str, Any]]:
        return [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]

    @staticmethod
    def _sent(messages: list[dict[str, Any]]) -> dict[str, str]:
        """Return the addresses that were asked for, by the numbers of the requests."""
        sent = [m["params"] for m in messages if m["method"] == "Network.requestWillBeSent"]
        return {event["requestId"]: event["request"]["url"] for event in sent}


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Lend a browser."""
    options = Options()
    options.binary_location = str(CHROMIUM)
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(str(DRIVER)))
    try:
        yield Browser(driver)
    finally:
        driver.quit()
