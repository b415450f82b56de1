// How charts look: the colours of the style sheet, light or dark, and marks that the library has no words for.

const root = document.documentElement;
const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
const termColour = (family, term) => css(`--${family}-${term}`) || css(`--${family}-other`);

function faded(colour, alpha) {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
  return `rgba(${r}, ${g}, ${b}, ${alpha})`;
}

function applyTheme() {
  Chart.defaults.color = css("--muted");
  Chart.defaults.borderColor = css("--line");
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.font.size = 12;
  Chart.defaults.animation = false;
  Chart.defaults.maintainAspectRatio = false;
  Chart.defaults.plugins.legend.display = false;
  Object.assign(Chart.defaults.plugins.tooltip, {
    backgroundColor: css("--paper"), titleColor: css("--ink"), bodyColor: css("--ink"), borderColor: css("--line"),
    borderWidth: 1, padding: 10, displayColors: false, titleFont: { weight: "600" },
  });
}

/** Intervals, limits and bands. A row counts the bars from above. */
const marks = {
  id: "marks",
  beforeDatasetsDraw(chart, _, options) {
    const { ctx, chartArea: area, scales } = chart;
    for (const band of options.bands || []) {
      const left = Math.max(area.left, scales.x.getPixelForValue(band.low));
      const right = Math.min(area.right, scales.x.getPixelForValue(band.high));
      ctx.fillStyle = band.colour;
      ctx.fillRect(left, area.top, right - left, area.bottom - area.top);
    }
  },
  afterDatasetsDraw(chart, _, options) {
    const { ctx, chartArea: area, scales } = chart;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = css("--mark");
    ctx.lineWidth = 1.5;
    ctx.font = `12px ${Chart.defaults.font.family}`;
    for (const line of options.lines || []) {
      const x = scales.x.getPixelForValue(line.at);
      ctx.setLineDash(line.dashed ? [4, 3] : []);
      ctx.beginPath();
      ctx.moveTo(x, area.top - 2);
      ctx.lineTo(x, area.bottom);
      ctx.stroke();
      if (line.label) {
        const width = ctx.measureText(line.label).width;
        ctx.fillText(line.label, Math.min(Math.max(x - width / 2, area.left), area.right - width), area.top - 7);
      }
    }
    ctx.setLineDash([]);
    for (const { row, low, high } of options.whiskers || []) {
      const y = scales.y.getPixelForValue(row);
      const [left, right] = [low, high].map((value) => scales.x.getPixelForValue(value));
      ctx.beginPath();
      ctx.moveTo(left, y);
      ctx.lineTo(right, y);
      for (const x of [left, right]) {
        ctx.moveTo(x, y - 5);
        ctx.lineTo(x, y + 5);
      }
      ctx.stroke();
    }
    ctx.restore();
  },
};

/** Names beside points, left out where they would cover one another; hovering tells every point's. */
const pointNames = {
  id: "pointNames",
  afterDatasetsDraw(chart, _, options) {
    if (!options.of) return;
    const { ctx, chartArea: area } = chart;
    const taken = [];
    ctx.save();
    ctx.font = `11px ${Chart.defaults.font.family}`;
    ctx.fillStyle = css("--muted");
    for (const { dataset, index, name } of options.of) {
      const point = chart.getDatasetMeta(dataset).data[index];
      const width = ctx.measureText(name).width;
      const x = point.x + 8 + width > area.right ? point.x - 8 - width : point.x + 8;
      const covers = taken.some((t) => x < t.x + t.width && t.x < x + width && Math.abs(point.y - t.y) < 13);
      if (covers || x < area.left) continue;
      taken.push({ x, y: point.y, width });
      ctx.fillText(name, x, point.y + 4);
    }
    ctx.restore();
  },
};

const axisTitle = (text) => ({ display: true, text, color: css("--muted") });
/** Bars from left to right, named on the left. */
function barAxes(title, extra = {}) {
  return {
    x: { title: axisTitle(title), grid: { color: css("--faint") }, ...extra },
    y: { grid: { display: false }, ticks: { color: css("--ink"), autoSkip: false } },
  };
}
