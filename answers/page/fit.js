// The charts of a fit: every sample against its curve.

const fitRows = (at) => member(at + "/rows").map((row, i) => ({row, pointer: `${at}/rows/${i}`}));
const fitError = (row) => row.held_out_error ?? row.error;

/** Axis of a time, in the unit of its largest. */
function fitTimes(times, title) {
  const [factor, unit] = scaleFor(timeScales, Math.max(...times));
  return {
    factor,
    axis: {
      type: "logarithmic",
      min: Math.min(...times) / factor / 1.3,
      max: Math.max(...times) / factor * 1.3,
      title: axisTitle(`${title}, ${unit}`),
      grid: {color: css("--faint")},
      ticks: {callback: powersOfTen(digits), maxRotation: 0}
    }
  };
}

const fitSays = ({raw: {row}}) =>
    [`measured ${digits(row.measured_s * 1e6)} us, fitted ${digits(row.fitted_s * 1e6)} us`,
     `error ${digits(100 * row.error)} %` +
         (row.held_out_error === undefined ? "" : `, held out ${digits(100 * row.held_out_error)} %`)];

function fitChart(points, lines, x, y) {
  return {
    type: "scatter",
    data: {
      datasets: [
        ...lines.map((data) => ({
                       type: "line",
                       data,
                       pointRadius: 0,
                       pointHitRadius: 0,
                       borderWidth: 1.2,
                       borderColor: css("--muted"),
                       borderDash: [5, 4]
                     })),
        {data: points, backgroundColor: faded(css("--accent"), 0.75), radius: 3.5, hoverRadius: 6}
      ]
    },
    options: {
      scales: {x, y},
      plugins: {tooltip: {callbacks: {title: ([item]) => item.raw.row.sample || "", label: fitSays}}}
    }
  };
}

charts["fit-times"] = (at) => {
  const rows = fitRows(at);
  const {factor, axis} = fitTimes(rows.flatMap(({row}) => [row.measured_s, row.fitted_s]), "measured");
  const points = rows.map(({row}) => ({x: row.measured_s / factor, y: row.fitted_s / factor, row}));
  const same = [axis.min, axis.max].map((t) => ({x: t, y: t}));
  const fitted = {...axis, title: axisTitle(axis.title.text.replace("measured", "fitted"))};
  return fitChart(points, [same], axis, fitted);
};

charts["fit-errors"] = (at) => {
  const rows = fitRows(at);
  const within = 100 * member(at + "/within_80");
  const {factor, axis} = fitTimes(rows.map(({row}) => row.measured_s), "measured");
  const points = rows.map(({row}) => ({x: row.measured_s / factor, y: 100 * fitError(row), row}));
  const bound = [within, -within].map((e) => [axis.min, axis.max].map((x) => ({x, y: e})));
  const most = 1.15 * Math.max(within, ...points.map((point) => Math.abs(point.y)));
  return fitChart(points, bound, axis,
                  {min: -most, max: most, title: axisTitle("error, %"), grid: {color: css("--faint")},
                   ticks: {includeBounds: false, callback: (value) => digits(value)}});
};
