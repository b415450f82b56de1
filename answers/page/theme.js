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
  Object.assign(Chart.defaults.plugins.legend.labels, {usePointStyle: true, boxWidth: 7, boxHeight: 7});
  Object.assign(Chart.defaults.plugins.tooltip, {
    backgroundColor: css("--paper"),
    titleColor: css("--ink"),
    bodyColor: css("--ink"),
    borderColor: css("--line"),
    borderWidth: 1,
    padding: 10,
    displayColors: false,
    titleFont: {weight: "600"},
  });
}

/** Bands behind the bars, limits and intervals over them; a row counts the bars from above or from the left. */
const marks = {
  id: "marks",
  beforeDatasetsDraw(chart, _, options) {
    const {ctx, chartArea: area, scales} = chart;
    for (const band of options.bands || []) {
      const left = Math.max(area.left, scales.x.getPixelForValue(band.low));
      const right = Math.min(area.right, scales.x.getPixelForValue(band.high));
      ctx.fillStyle = band.colour;
      ctx.fillRect(left, area.top, right - left, area.bottom - area.top);
    }
  },
  afterDatasetsDraw(chart, _, options) {
    const {ctx, chartArea: area, scales} = chart;
    const lying = chart.options.indexAxis === "y";
    const [values, rows] = lying ? [scales.x, scales.y] : [scales.y, scales.x];
    // Along the values, then across them, whichever way the bars lie.
    const stroke = (from, to) => {
      ctx.moveTo(...(lying ? from : from.reverse()));
      ctx.lineTo(...(lying ? to : to.reverse()));
    };
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = css("--mark");
    ctx.lineWidth = 1.5;
    ctx.font = `12px ${Chart.defaults.font.family}`;
    ctx.beginPath();
    for (const line of options.lines || []) {
      const at = values.getPixelForValue(line.at);
      stroke([at, lying ? area.top : area.left], [at, lying ? area.bottom : area.right]);
      if (line.label) ctx.fillText(line.label, area.left + 6, at - 6);
    }
    for (const {row, low, high} of options.whiskers || []) {
      const middle = rows.getPixelForValue(row);
      const ends = [low, high].map((value) => values.getPixelForValue(value));
      stroke([ends[0], middle], [ends[1], middle]);
      for (const end of ends) stroke([end, middle - 6], [end, middle + 6]);
    }
    ctx.stroke();
    ctx.restore();
  },
};

/** What each part of a standing stack is, beside those that are high enough for a line of text. */
const stackNames = {
  id: "stackNames",
  afterDatasetsDraw(chart, _, options) {
    if (!options.shown) return;
    const {ctx} = chart;
    ctx.save();
    ctx.font = `12px ${Chart.defaults.font.family}`;
    ctx.fillStyle = css("--muted");
    chart.data.datasets.forEach((dataset, index) => {
      const bar = chart.getDatasetMeta(index).data[0];
      if (Math.abs(bar.base - bar.y) >= 12)
        ctx.fillText(dataset.label, bar.x + bar.width / 2 + 8, (bar.y + bar.base) / 2 + 4);
    });
    ctx.restore();
  },
};

/** Names beside points, left out where they would cover one another; hovering tells every point's. */
const pointNames = {
  id: "pointNames",
  afterDatasetsDraw(chart, _, options) {
    if (!options.of) return;
    const {ctx, chartArea: area} = chart;
    const taken = [];
    ctx.save();
    ctx.font = `11px ${Chart.defaults.font.family}`;
    ctx.fillStyle = css("--muted");
    for (const {dataset, index, name} of options.of) {
      const point = chart.getDatasetMeta(dataset).data[index];
      const width = ctx.measureText(name).width;
      const x = point.x + 8 + width > area.right ? point.x - 8 - width : point.x + 8;
      const covers = taken.some((t) => x < t.x + t.width && t.x < x + width && Math.abs(point.y - t.y) < 13);
      if (covers || x < area.left) continue;
      taken.push({x, y: point.y, width});
      ctx.fillText(name, x, point.y + 4);
    }
    ctx.restore();
  },
};

const axisTitle = (text) => ({display: true, text, color: css("--muted")});
/** Bars from left to right, named on the left. */
function barAxes(title, extra = {}) {
  return {
    x: {title: axisTitle(title), grid: {color: css("--faint")}, ...extra},
    y: {grid: {display: false}, ticks: {color: css("--ink"), autoSkip: false}},
  };
}
