"use strict";
// Controls are made here, so that none stands on the page where scripts do not run. Text is set as text, never as HTML.
(() => {
  const byId = (id) => document.getElementById(id);
  const svg = (name, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.textContent = text;
    return element;
  };

  // Light and dark: the system's choice until the button is pressed.
  const root = document.documentElement;
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const theme = byId("theme");
  const nameTheme = () => {
    theme.textContent = isDark() ? "Light colours" : "Dark colours";
  };
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    nameTheme();
  });
  system.addEventListener("change", nameTheme);
  nameTheme();
  theme.hidden = false;

  // What is wider than the page scrolls by itself, and says so.
  const scrollers = Array.from(document.querySelectorAll(".scroll"), (box) => {
    const hint = document.createElement("p");
    hint.className = "hint";
    hint.textContent = "Scroll sideways for the rest \u2192";
    box.before(hint);
    return [box, hint];
  });
  const showHints = () => {
    for (const [box, hint] of scrollers) hint.hidden = box.scrollWidth <= box.clientWidth + 1;
  };
  window.addEventListener("resize", showHints);

  // Tables: a button in each heading sorts; numbers by value, text by alphabet, empty cells last.
  const key = (row, column) => {
    const cell = row.cells[column];
    if (!("value" in cell.dataset)) return cell.textContent;
    return cell.dataset.value === "" ? null : Number(cell.dataset.value);
  };
  const compare = (a, b) => (typeof a === "number" ? a - b : a.localeCompare(b, undefined, { numeric: true }));
  const sort = (table, column, direction) => {
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row) => [key(row, column), row]);
    rows.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      return direction * compare(a, b);
    });
    body.append(...rows.map(([, row]) => row));
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        sort(table, column, up ? 1 : -1);
      });
    });
  }

  // The gate along the chosen input.
  const choice = byId("gate-input");
  if (choice) {
    const features = JSON.parse(byId("gate-data").textContent);
    const draw = () => {
      const feature = features[Number(choice.value)];
      Array.from(byId("gate-lines").children).forEach((line, i) => {
        line.setAttribute("d", feature.paths[i]);
        line.classList.toggle("bar", feature.bars);
        line.classList.toggle("curve", !feature.bars);
      });
      byId("gate-histogram").setAttribute("d", feature.histogram);
      const y = byId("gate-ticks").dataset.y;
      const marks = feature.ticks.map(([x, text]) => svg("text", { x, y, "text-anchor": "middle" }, text));
      byId("gate-ticks").replaceChildren(...marks);
      byId("gate-axis").textContent = feature.axis;
      byId("gate-words").textContent = feature.text;
    };
    choice.addEventListener("change", draw);
    draw(); // a browser may have kept another choice over a reload
    choice.parentElement.hidden = false;
  }
  showHints();
})();
