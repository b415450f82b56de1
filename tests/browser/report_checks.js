// What a page of `headroom plan --format html` must be once a browser has opened it; each check yields "" or what is
// wrong. Written for the test alone: no page contains it.
(() => {
  const documents = {};
  for (const script of document.querySelectorAll("script[data-document]")) {
    documents[script.dataset.document] = JSON.parse(script.textContent);
  }
  const member = (pointer) => {
    const [name, path] = pointer.split("#");
    return path.split("/")
        .slice(1)
        .map((t) => t.replace(/~1/g, "/").replace(/~0/g, "~"))
        .reduce((value, token) => (value === undefined ? undefined : value[token]), documents[name]);
  };
  // Units as the answers write them, from their definitions: a GiB is 2^30 bytes, a day 86 400 seconds.
  const units = {
    "": 1,
    "ns": 1e-9,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1,
    "h": 3600,
    "days": 86400,
    "%": 0.01,
    "$": 1,
    "M$": 1e6,
    "G$": 1e9,
    "$/h": 1 / 3600,
    "B": 1,
    "KiB": 2 ** 10,
    "MiB": 2 ** 20,
    "GiB": 2 ** 30,
    "TiB": 2 ** 40,
    "PiB": 2 ** 50,
    "B/s": 1,
    "kB/s": 1e3,
    "MB/s": 1e6,
    "GB/s": 1e9,
    "TB/s": 1e12,
    "PB/s": 1e15,
    "FLOP": 1,
    "MFLOP": 1e6,
    "GFLOP": 1e9,
    "TFLOP": 1e12,
    "PFLOP": 1e15,
    "EFLOP": 1e18,
    "FLOP/s": 1,
    "MFLOP/s": 1e6,
    "GFLOP/s": 1e9,
    "TFLOP/s": 1e12,
    "PFLOP/s": 1e15,
    "EFLOP/s": 1e18,
    "FLOP/B": 1,
    "J": 1,
    "Wh": 3600,
    "kWh": 3.6e6,
    "MWh": 3.6e9,
    "GWh": 3.6e12,
    "W": 1,
    "kW": 1e3,
    "MW": 1e6
  };

  const checks = {
    /** Every figure is the member that it names, or the ratio of the two, and reads as that number to three digits. */
    figures() {
      const wrong = [];
      const figures = document.querySelectorAll("data");
      for (const figure of figures) {
        const {of, over} = figure.dataset;
        const expected = over === undefined ? member(of) : member(of) / member(over);
        const parts = /^([+-]?)([0-9 ]*\.?[0-9]+)(?: (\S+))?$/.exec(figure.textContent);
        const read =
            parts && (parts[1] === "-" ? -1 : 1) * Number(parts[2].replace(/ /g, "")) * (units[parts[3] || ""] ?? NaN);
        if (typeof expected !== "number" || Number(figure.value) !== expected)
          wrong.push(`${of}: ${figure.value} is not ${expected}`);
        else if (!(Math.abs(read - expected) <= 0.00501 * Math.abs(expected)))
          wrong.push(`${of}: "${figure.textContent}" is not ${expected}`);
      }
      return figures.length === 0 ? "no figures" : wrong.slice(0, 5).join("\n");
    },
    /** Numbers of tables are figures; dates are text. */
    cells() {
      return [...document.querySelectorAll("main td.n")]
          .filter((cell) => cell.textContent.trim() && !cell.querySelector("data"))
          .map((cell) => cell.textContent)
          .filter((text) => /[0-9]/.test(text) && !/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text))
          .slice(0, 5)
          .join("\n");
    },
    /** Nothing sticks out of the page but what scrolls in a frame of its own. */
    overflow() {
      const width = document.documentElement.clientWidth;
      const out = [];
      if (document.documentElement.scrollWidth > width)
        out.push(`the page is ${document.documentElement.scrollWidth} wide`);
      for (const element of document.body.querySelectorAll("*")) {
        const frame = element.parentElement.closest(".scroll");
        const box = element.getBoundingClientRect();
        if (frame || box.width === 0) continue;
        if (box.right > width + 0.5 || box.left < -0.5 ||
            (element.scrollWidth > width && !element.matches(".scroll"))) {
          out.push(`${element.tagName} .${element.className} ${Math.round(box.left)} to ${Math.round(box.right)}`);
        }
      }
      return out.slice(0, 5).join("\n");
    },
    /** Every chart that is to be seen is drawn, and says in words what it shows. */
    charts() {
      const wrong = [];
      const canvases = [...document.querySelectorAll("canvas")];
      for (const canvas of canvases) {
        if (canvas.parentElement.hidden) continue;
        const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        // Axes and words are grey; bars, lines and points are not.
        let coloured = 0;
        for (let i = 0; i < pixels.length; i += 4) {
          const [r, g, b] = pixels.slice(i, i + 3);
          coloured += pixels[i + 3] > 0 && Math.max(r, g, b) - Math.min(r, g, b) > 40 ? 1 : 0;
        }
        if (coloured < 100) wrong.push(`${canvas.dataset.chart} is empty: ${coloured} coloured pixels`);
        if (!canvas.getAttribute("aria-label")) wrong.push(`${canvas.dataset.chart} says nothing`);
      }
      return wrong.join("\n");
    },
    drawn: () => [...document.querySelectorAll("canvas")]
                     .filter((c) => !c.parentElement.hidden)
                     .map((c) => c.dataset.chart)
                     .join(" "),
    /** Hovering every point tells something whole. */
    hover() {
      const wrong = [];
      for (const canvas of document.querySelectorAll("canvas")) {
        const chart = Chart.getChart(canvas);
        if (!chart) continue;
        chart.data.datasets.forEach((dataset, datasetIndex) => {
          if (dataset.pointHitRadius === 0) return;
          dataset.data.forEach((_, index) => {
            chart.tooltip.setActiveElements([{datasetIndex, index}], {x: 0, y: 0});
            chart.tooltip.update(true);
            const text = [...chart.tooltip.title, ...chart.tooltip.body.flatMap((b) => b.lines)].join(" | ");
            if (!text.trim() || /undefined|NaN|\[object|null/.test(text))
              wrong.push(`${canvas.dataset.chart}: ${text}`);
          });
        });
        chart.tooltip.setActiveElements([], {x: 0, y: 0});
      }
      return wrong.slice(0, 5).join("\n");
    },
    /** What hovering a chart's first point of a data set says. */
    hoverOf(name, datasetIndex) {
      const chart = Chart.getChart(document.querySelector(`canvas[data-chart=${name}]`));
      chart.tooltip.setActiveElements([{datasetIndex, index: 0}], {x: 0, y: 0});
      chart.tooltip.update(true);
      return [...chart.tooltip.title, ...chart.tooltip.body.flatMap((b) => b.lines)].join(" | ");
    },
    /** The figures of a column of the first table that can be sorted, from top to bottom. */
    column: (index) => [...document.querySelector("table.sortable").tBodies[0].rows]
                           .map((row) => row.cells[index].querySelector("data"))
                           .filter((figure) => figure)
                           .map((figure) => figure.value)
                           .join(" "),
    /** Which way that column runs once its name was clicked. */
    sorted(index) {
      document.querySelector("table.sortable").tHead.rows[0].cells[index].querySelector("button").click();
      const values = checks.column(index).split(" ").map(Number);
      const runs = (order) => values.every((value, i) => i === 0 || order * (value - values[i - 1]) >= 0);
      return runs(1) ? "up" : runs(-1) ? "down" : "neither";
    },
    /** Text against what lies behind it: 4.5 to 1 at least (WCAG 2.2, 1.4.3). */
    contrast() {
      const light = (colour) => {
        const [r, g, b] =
            colour.map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const parse = (text) => text.match(/[0-9.]+/g).map(Number);
      const behind = (element) => {
        for (let e = element; e; e = e.parentElement) {
          const colour = parse(getComputedStyle(e).backgroundColor);
          if (colour.length === 3 || colour[3] > 0) return colour.slice(0, 3);
        }
        return [255, 255, 255];
      };
      const wrong = new Set();
      for (const element of document.querySelectorAll("body *")) {
        if (![...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())) continue;
        if (element.matches("script, style") || element.getBoundingClientRect().width === 0) continue;
        const [a, b] = [light(parse(getComputedStyle(element).color).slice(0, 3)), light(behind(element))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5) wrong.add(`${element.tagName} .${element.className}: ${ratio.toFixed(2)}`);
      }
      return [...wrong].slice(0, 5).join("\n");
    },
    drawnAfter: () => String(performance.getEntriesByName("charts drawn")[0].startTime),
    ground: () => getComputedStyle(document.documentElement).backgroundColor,
    closed: () => String(document.querySelectorAll("main details:not([open])").length),
    duplicates: () => [...document.querySelectorAll("[id]")]
                          .map((e) => e.id)
                          .filter((id, i, all) => all.indexOf(id) !== i)
                          .join(" "),
    links: () => [...document.querySelectorAll("a")]
                     .map((a) => a.getAttribute("href"))
                     .filter((h) => !h.startsWith("#") || !document.querySelector(h))
                     .join(" "),
  };
  window.reportChecks = checks;
  return "";
})()
