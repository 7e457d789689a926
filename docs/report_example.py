"""Make the example report of the docs from the concrete table, and pictures of it.

Run ``python docs/report_example.py``: it writes ``report.html``, and with Selenium and Chromium installed it takes
``docs/figures/report.png``, the top of the page in light colours.
"""

import argparse
import shutil
from pathlib import Path

from skmoe import MoERegressor, report
from skmoe.datasets import load_concrete

HERE = Path(__file__).parent


def make(path: Path) -> None:
    """Write the report of two experts; rows are held out in folds."""
    X, y = load_concrete(return_X_y=True, as_frame=True)
    model = MoERegressor(n_experts=2, random_state=0).fit(X, y)
    report.write(model, path, X, y, title="Compressive strength of concrete", target="strength (MPa)")


def photograph(page: Path, picture: Path, *, dark: bool = False, width: int = 1000, height: int = 1500) -> None:
    """Take a picture of the top of a page with headless Chromium."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--hide-scrollbars", f"--window-size={width},{height}"):
        options.add_argument(argument)
    # the programs that are installed: Selenium would look for others on the network
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    browser = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        theme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": theme})
        browser.get(page.resolve().as_uri())
        picture.parent.mkdir(exist_ok=True)
        browser.save_screenshot(str(picture))
    finally:
        browser.quit()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", type=Path, default=Path("report.html"), help="where to write the page")
    parser.add_argument(
        "--picture", type=Path, default=HERE / "figures" / "report.png", help="where to put the picture"
    )
    parser.add_argument("--dark", action="store_true", help="dark colours")
    parser.add_argument("--height", type=int, default=1500, help="pixels of the page to show")
    given = parser.parse_args()
    make(given.page)
    photograph(given.page, given.picture, dark=given.dark, height=given.height)
