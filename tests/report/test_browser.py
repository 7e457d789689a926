"""The report in a browser: Chromium without a window, driven by Selenium. Skipped where either is not installed."""

import json
import re
import shutil

import numpy as np
import pandas as pd
import pytest

from report.pages import HOSTILE, problem, table_with_text
from skips import BROWSERS, is_browser_there
from skmoe import MoEClassifier, MoERegressor, report
from skmoe.report.gate_curves import gate_curves
from skmoe.report.gate_picture import BOX

webdriver = pytest.importorskip("selenium.webdriver", reason="Selenium is not installed")
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.select import Select  # noqa: E402
from selenium.webdriver.support.wait import WebDriverWait  # noqa: E402

CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
DRIVER = shutil.which("chromedriver")

pytestmark = pytest.mark.skipif(
    not is_browser_there(), reason="chromium and chromedriver are not installed (Debian: chromium-driver)"
)


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1000,1200"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    options.set_capability("unhandledPromptBehavior", "ignore")  # a dialog that opens is to be seen
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def data():
    return problem(names=HOSTILE)


@pytest.fixture(scope="module")
def model(data):
    return MoERegressor(n_experts=2, random_state=0).fit(*data)


@pytest.fixture(scope="module")
def address(model, data, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    report.write(model, path, *data, title=HOSTILE[1], target=HOSTILE[0], test=problem(150, 2, HOSTILE))
    return path.as_uri()


@pytest.fixture
def page(browser, address):
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    browser.get_log("browser")
    browser.get(address)
    yield browser
    assert browser.get_log("browser") == []  # neither an error nor a warning, whatever was done


def background(browser):
    return browser.execute_script("return getComputedStyle(document.body).backgroundColor")


def prefer(browser, theme):
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": theme}]}
    )


def values(table, column):
    cells = table.find_elements(By.CSS_SELECTOR, f"tbody tr > :nth-child({column + 1})")
    return [cell.get_attribute("data-value") or cell.text for cell in cells]


def coefficients(page):
    return page.find_element(By.CSS_SELECTOR, "#coefficients table")


def test_hostile_names_show_as_text(page):
    with pytest.raises(Exception, match="no such alert"):
        _ = page.switch_to.alert.text
    assert page.find_element(By.TAG_NAME, "h1").text == HOSTILE[1]
    assert page.title == HOSTILE[1]
    names = [th.text for th in coefficients(page).find_elements(By.CSS_SELECTOR, "tbody th")]
    assert names == ["intercept", *HOSTILE]
    options = [option.text for option in Select(page.find_element(By.ID, "gate-input")).options]
    assert set(options) <= set(HOSTILE)
    assert page.find_elements(By.CSS_SELECTOR, "img, b, iframe, object") == []


def test_page_asks_for_nothing_else(page):
    loaded = page.execute_script("return performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert [name for name in loaded if not name.startswith("data:")] == []


def test_policy_stops_scripts_that_are_not_ours(browser, address):
    browser.get(address)
    browser.execute_script(
        "const s = document.createElement('script'); s.textContent = 'window.ran = 1'; document.body.append(s)"
    )
    assert browser.execute_script("return window.ran") is None
    assert any("Content Security Policy" in entry["message"] for entry in browser.get_log("browser"))


def test_sort_by_click_goes_up_then_down(page):
    table = coefficients(page)
    head = table.find_elements(By.CSS_SELECTOR, "thead th")[1]
    head.find_element(By.TAG_NAME, "button").click()
    rising = [float(v) for v in values(table, 1)]
    assert rising == sorted(rising)
    assert head.get_attribute("aria-sort") == "ascending"
    head.find_element(By.TAG_NAME, "button").click()
    assert [float(v) for v in values(table, 1)] == rising[::-1]
    assert head.get_attribute("aria-sort") == "descending"


def test_sort_by_keyboard_and_only_one_column_is_marked(page):
    table = coefficients(page)
    first, second, _ = table.find_elements(By.CSS_SELECTOR, "thead button")
    first.send_keys(Keys.ENTER)
    names = values(table, 0)
    assert names == page.execute_script("return [...arguments[0]].sort((a, b) => a.localeCompare(b))", names)
    first.send_keys(Keys.TAB)
    assert page.switch_to.active_element == second
    second.send_keys(Keys.SPACE)
    rising = [float(v) for v in values(table, 1)]
    assert rising == sorted(rising)
    marked = table.find_elements(By.CSS_SELECTOR, "th[aria-sort]")
    assert [head.text for head in marked] == [second.text]


def test_sort_puts_missing_numbers_last_both_ways(page):
    table = page.find_element(By.CSS_SELECTOR, "#numbers table")
    buttons = table.find_elements(By.CSS_SELECTOR, "thead button")
    buttons[2].click()  # by estimate, which puts the noise scales among the others
    assert values(table, 7)[-2:] != ["–", "–"]
    for _ in range(2):
        buttons[7].click()  # by z, which the noise scale of an expert does not have
        z = values(table, 7)
        assert z[-2:] == ["–", "–"]
        assert "–" not in z[:-2]


def test_gate_choice_redraws_the_models_numbers(page, model, data):
    curves = gate_curves(model, data[0].to_numpy())
    choice = Select(page.find_element(By.ID, "gate-input"))
    assert choice.first_selected_option.text == curves[0].name
    before = page.find_element(By.CSS_SELECTOR, "#gate-lines path").get_attribute("d")
    choice.select_by_visible_text(curves[1].name)
    lines = page.find_elements(By.CSS_SELECTOR, "#gate-lines path")
    assert lines[0].get_attribute("d") != before
    for line, curve in zip(lines, curves[1].curves, strict=True):
        points = np.array(re.findall(r"([\d.]+) ([\d.]+)", line.get_attribute("d")), dtype=float)
        drawn = (BOX.bottom - points[:, 1]) / (BOX.bottom - BOX.top)
        np.testing.assert_allclose(drawn, curve, atol=1e-5)
        shown = curves[1].grid[0] + (points[:, 0] - BOX.left) / (BOX.right - BOX.left) * np.ptp(curves[1].grid)
        np.testing.assert_allclose(shown, curves[1].grid, atol=1e-4 * np.ptp(curves[1].grid))
    assert page.find_element(By.ID, "gate-axis").text == curves[1].name
    assert lines[0].get_attribute("class") == ("bar e1" if curves[1].labels else "curve e1")
    told = json.loads(page.find_element(By.ID, "gate-data").get_attribute("textContent"))[1]
    assert page.find_element(By.ID, "gate-words").text == told["text"]
    ticks = [text.text for text in page.find_elements(By.CSS_SELECTOR, "#gate-ticks text")]
    assert ticks == [text for _, text in told["ticks"]]


def test_theme_follows_the_system_until_the_button_is_pressed(page):
    prefer(page, "light")
    light = background(page)
    prefer(page, "dark")
    dark = background(page)
    button = page.find_element(By.ID, "theme")
    assert light != dark
    WebDriverWait(page, 10).until(lambda _: button.text == "Light colours")  # the browser tells the page in its time
    button.click()
    assert background(page) == light
    assert button.text == "Dark colours"
    prefer(page, "light")
    button.send_keys(Keys.ENTER)
    assert background(page) == dark


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_has_contrast(page, theme):
    prefer(page, theme)

    def luminance(colour):
        parts = np.array([float(v) for v in re.findall(r"[\d.]+", colour)[:3]]) / 255
        return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]

    for selector in ("body", ".lead", "nav a", "figcaption", "td small", ".caption", ".cards dt", ".verdict", ".hint"):
        colour = page.execute_script(f"return getComputedStyle(document.querySelector('{selector}')).color")
        one, other = sorted([luminance(colour), luminance(background(page))])
        assert (other + 0.05) / (one + 0.05) >= 4.5, selector


def test_print_hides_controls_and_shows_every_section_on_white(page):
    page.find_element(By.ID, "theme").click()
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    for control in page.find_elements(By.CSS_SELECTOR, "#theme, .control, nav"):
        assert not control.is_displayed()
    arrow = "return getComputedStyle(document.querySelector('th button'), '::after').content"
    assert page.execute_script(arrow) == "none"
    assert all(section.is_displayed() for section in page.find_elements(By.TAG_NAME, "section"))
    assert background(page) == "rgb(255, 255, 255)"
    colour = page.execute_script("return getComputedStyle(document.body).color")
    assert max(int(part) for part in re.findall(r"\d+", colour)) < 64


# -- widths -----------------------------------------------------------------------------------------------------------

LONG = [
    "a name of an input that nobody would type twice (in kilogrammes per cubic metre of the mixture)",
    "b_underscored_name_without_any_place_to_break_it_at_all_whatsoever_and_then_some_more_of_it",
    "c",
]
WIDTHS = (360, 768, 1200)
# every line of text lies inside the innermost block around it, every text of a picture inside the picture
OUTSIDE = """
const found = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const blocks = "td, th, p, li, dd, dt, h1, h2, h3, figcaption, button, a, label, footer";
while (walker.nextNode()) {
  const node = walker.currentNode, parent = node.parentElement;
  if (!node.data.trim() || !parent.checkVisibility() || parent.closest("script, style, title, option, .skip")) continue;
  const box = (parent.closest("svg") || parent.closest(blocks)).getBoundingClientRect();
  const range = document.createRange();
  range.selectNodeContents(node);
  for (const line of range.getClientRects()) {
    if (line.left < box.left - 1 || line.right > box.right + 1) found.push([node.data.trim(), line.right - box.right]);
  }
}
for (const box of document.querySelectorAll(".regime, .cards div, .checks li, .note, figure")) {
  if (box.scrollWidth > box.clientWidth + 1) found.push([box.className, box.scrollWidth - box.clientWidth]);
}
return found;
"""


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Reports of twelve experts with long names, of one expert, of a table with text, and of classifiers."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(1200, 3)), columns=LONG)
    X[LONG[0]] = rng.uniform(-6, 6, size=1200)
    z = np.digitize(X[LONG[0]], np.arange(-5, 6))  # a hundred rows in each of twelve regimes
    y = pd.Series(10.0 * (5 * z % 12) + X["c"] * (-1) ** z + 0.2 * rng.normal(size=1200), name=f"output_{'long_' * 15}")
    quick = {"n_init": 1, "calibration": None, "penalty": 0.3, "random_state": 0}
    folder = tmp_path_factory.mktemp("many")
    found = {}
    twelve, one = MoERegressor(12, **quick | {"n_init": 10}).fit(X, y), MoERegressor(1).fit(X[["c"]][:50], y[:50])
    text, salaries = table_with_text()
    two = MoERegressor(2, **quick).fit(text, salaries)
    for name, fitted, *rows in (("twelve", twelve, X, y), ("one", one, X[["c"]], y), ("text", two, text, salaries)):
        test = (rows[0][:60], rows[1][:60]) if name != "text" else tuple(rows)
        found[name] = report.write(fitted, folder / f"{name}.html", *rows, test=test, title=y.name).as_uri()
    label = np.where(X["c"] > 0, LONG[1], np.where(X[LONG[0]] > 0.5, "_b", "</script>"))
    for name, classes in (("classes", label), ("two", label == "_b")):
        fitted = MoEClassifier(2, penalty=0.3, n_init=1, random_state=0).fit(X, classes)
        path = folder / f"{name}.html"
        found[name] = report.write(fitted, path, X, classes, test=(X[:90], classes[:90]), target=y.name).as_uri()
    return found


def resize(browser, width):
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


@pytest.fixture(params=WIDTHS)
def width(browser, request):
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    resize(browser, request.param)
    yield request.param
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("name", ["twelve", "one", "text", "classes", "two"])
def test_no_text_leaves_its_box_at_any_width(browser, many, width, name):
    browser.get(many[name])
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.execute_script(OUTSIDE) == []


def test_what_is_wide_scrolls_and_says_so(browser, many, width):
    browser.get(many["twelve"])
    boxes = browser.execute_script(
        "return Array.from(document.querySelectorAll('.scroll'), (box) => [box.scrollWidth > box.clientWidth + 1, "
        "box.previousElementSibling.className === 'hint' && box.previousElementSibling.checkVisibility()])"
    )
    assert any(wide for wide, _ in boxes)  # thirteen columns
    assert all(wide == said for wide, said in boxes)
    browser.get(many["one"])
    hints = browser.execute_script("return Array.from(document.querySelectorAll('.hint'), (p) => p.checkVisibility())")
    assert any(hints) == (width == 360)


@pytest.mark.parametrize("width", [1200], indirect=True)
def test_hints_follow_the_width_of_the_window(browser, many, width):
    browser.get(many["one"])
    shown = "return Array.from(document.querySelectorAll('.hint')).some((p) => p.checkVisibility())"
    assert not browser.execute_script(shown)
    resize(browser, 360)
    WebDriverWait(browser, 10).until(lambda _: browser.execute_script(shown))


# -- without scripts, without rows ------------------------------------------------------------------------------------


def test_page_without_scripts_shows_the_picture_and_no_controls(browser, address):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(address)
        assert browser.find_element(By.ID, "gate-picture").is_displayed()
        for control in browser.find_elements(By.CSS_SELECTOR, ".control"):
            assert not control.is_displayed()
        assert browser.find_elements(By.CSS_SELECTOR, "th button") == []
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_page_without_rows_works_too(browser, model, tmp_path):
    browser.get(report.write(model, tmp_path / "bare.html").as_uri())
    browser.find_element(By.CSS_SELECTOR, "#numbers thead button").click()
    assert browser.get_log("browser") == []
