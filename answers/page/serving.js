// The charts of fleets and simulations.

/** A time as tables write it, of members that no table has too. */
function shownTime(pointer) {
  const value = member(pointer);
  if (typeof value !== "number" || shownTexts.has(pointer)) return shown(pointer);
  const [factor, unit] = scaleFor(timeScales, value);
  return `${digits(value / factor)} ${unit}`;
}
const percent = (value) => `${digits(100 * value)} %`;
const isTime = (value) => typeof value === "number" && value > 0;

/** Of a logarithmic axis 1, 2 and 5, and not the ends of its range. */
const roundTicks = (text) => (value) => (/^[125](\.0*)?e/.test(value.toExponential(6)) ? text(value) : "");

/** A logarithmic axis of times, each tick in its own unit. */
const timeAxis = (title, more = {}) => ({
  type: "logarithmic",
  title: axisTitle(title),
  grid: {color: css("--faint")},
  ticks: {
    callback: roundTicks((value) => {
      const [factor, unit] = scaleFor(timeScales, value);
      return `${digits(value / factor)} ${unit}`;
    })
  },
  ...more
});

/** What was reached of each promise over its limit: bars that end on the left of the line are kept. */
charts.promises = (at) => {
  const bars = (member(at + "/promises") || [])
                   .map((promise, i) => ({promise, pointer: `${at}/promises/${i}`}))
                   .filter(({promise}) => isTime(promise.reached_s.mid))
                   .map(({promise, pointer}) => ({
                          name: promise.promise + (promise.class === "all" ? "" : `, ${promise.class}`),
                          range: [1, promise.reached_s.mid / promise.limit_s],
                          colour: faded(css(promise.kept ? "--good" : "--bad"), 0.75),
                          pointer: pointer + "/reached_s/mid",
                          interval: pointer + "/reached_s",
                          ends: ["low", "high"].map((end) => promise.reached_s[end] / promise.limit_s)
                        }));
  if (!bars.length) return null;
  const whiskers =
      bars.map((bar, row) => ({row, low: bar.ends[0], high: bar.ends[1]})).filter((w) => w.low > 0 && w.high > 0);
  const config = barChart(bars, "", {whiskers, lines: [{at: 1}]});
  const values = [0.8, 1.25, ...bars.map((bar) => bar.range[1]), ...whiskers.flatMap((w) => [w.low, w.high])];
  Object.assign(config.options.scales.x, {
    type: "logarithmic",
    min: Math.min(...values) / 1.1,
    max: Math.max(...values) * 1.1,
    title: axisTitle("reached / limit; the line is the limit"),
    ticks: {callback: roundTicks(percent), maxRotation: 0, autoSkip: false}
  });
  return config;
};

/** Quantiles of the times that requests see. */
charts.tails = (at) => {
  const quantiles = ["p50", "p90", "p95", "p99", "max"];
  const times = [
    ["ttft_s", "TTFT", "--accent", "circle"], ["tpot_s", "TPOT", "--m-activations", "rect"],
    ["e2e_s", "whole answer", "--t-tp_comm", "triangle"], ["queue_s", "queue, of TTFT", "--muted", "rectRot"]
  ];
  const sets =
      times
          .map(([name, label, colour, style]) => ({
                 label,
                 borderColor: css(colour),
                 backgroundColor: css(colour),
                 borderWidth: 2,
                 pointRadius: 4,
                 pointStyle: style,
                 data: quantiles.filter((q) => isTime(member(`${at}/${name}/${q}`)))
                           .map((q) => ({x: q, y: member(`${at}/${name}/${q}`), pointer: `${at}/${name}/${q}`}))
               }))
          .filter((set) => set.data.length);
  if (!sets.length) return null;
  return {
    type: "line",
    data: {labels: quantiles, datasets: sets},
    options: {
      scales: {x: {grid: {display: false}}, y: timeAxis("time")},
      plugins: {
        legend: {display: true},
        tooltip: {
          callbacks:
              {title: ([item]) => `${item.dataset.label}, ${item.raw.x}`, label: (item) => shownTime(item.raw.pointer)}
        },
      },
    },
  };
};

/** Ways to serve by what they cost and a tail of theirs. */
function fleetFront(at, time, screenedTime, title) {
  // Those of the table, which are the cheapest.
  const rows = document.querySelector("#fleet table.sortable").tBodies[0].rows.length;
  const options = (member(at + "/options") || []).slice(0, rows).map((option, i) => {
    const pointer = `${at}/options/${i}`;
    return {
      option,
      pointer,
      time: option.sized ? `${pointer}/sized/${time}/p95` : `${pointer}/screened/${screenedTime}`,
      cost: option.usd_per_million_output_tokens ? pointer + "/usd_per_million_output_tokens/mid" : pointer + "/gpus"
    };
  });
  const placed = options.filter((o) => isTime(member(o.time)) && typeof member(o.cost) === "number");
  if (placed.length < 2) return null;
  const priced = placed.every((o) => o.cost.endsWith("/mid"));
  const times = placed.map((o) => member(o.time));
  const wide = Math.max(...times) > 8 * Math.min(...times);
  const [factor, unit] = wide ? [1, ""] : scaleFor(timeScales, Math.max(...times));
  const points = (keep) =>
      placed.filter(keep).map((o) => ({...o, x: priced ? member(o.cost) : o.option.gpus, y: member(o.time) / factor}));
  const kinds = [
    [
      "front", (o) => o.option.front, css("--accent"),
      {type: "line", borderColor: faded(css("--accent"), 0.5), borderWidth: 1.5, stepped: "before"}
    ],
    ["simulated", (o) => o.option.sized && o.option.sized.keeps && !o.option.front, css("--m-activations"), {}],
    ["misses", (o) => o.option.sized && !o.option.sized.keeps, css("--bad"), {pointStyle: "crossRot", borderWidth: 2}],
    ["screened", (o) => !o.option.sized, faded(css("--muted"), 0.5), {pointStyle: "triangle", radius: 3.5}]
  ];
  const datasets = kinds
                       .map(([label, keep, colour, more]) => ({
                              label,
                              data: points(keep).sort((a, b) => a.x - b.x),
                              backgroundColor: colour,
                              borderColor: colour,
                              radius: 5,
                              hoverRadius: 7,
                              ...more
                            }))
                       .filter((set) => set.data.length);
  return {
    type: "scatter",
    data: {datasets},
    options: {
      scales: {
        x: {title: axisTitle(priced ? "$ per million output tokens" : "GPUs"), grid: {color: css("--faint")}},
        y: wide ? timeAxis(title) : {title: axisTitle(`${title}, ${unit}`), grid: {color: css("--faint")}}
      },
      plugins: {
        legend: {display: true},
        tooltip: {
          callbacks: {
            title: ([item]) => wrapped(item.raw.option.option_text),
            label: ({raw, dataset}) =>
                [`${shown(raw.pointer + "/gpus")} GPUs, ${dataset.label}`,
                 ...(priced ? [`${shown(raw.cost)} per million output tokens`] : []), `${title} ${shownTime(raw.time)}`]
          }
        },
      },
    },
  };
}
charts["fleet-ttft"] = (at) => fleetFront(at, "ttft_s", "ttft_p95_s", "TTFT p95");
charts["fleet-tpot"] = (at) => fleetFront(at, "tpot_s", "tpot_p95_s", "TPOT p95");

/** Lines over the rate; shaded from the knee to the saturation, and the rate that was asked as a line. */
function overRate(at, lines, y, says) {
  const points = (member(at + "/points") || []).map((point, i) => ({point, pointer: `${at}/points/${i}`}));
  const {asked_requests_per_s: asked, knee_requests_per_s: knee, saturation_requests_per_s: saturation} = member(at);
  const most = 1.04 * saturation;
  const sets =
      lines.map(([name, label, colour, style]) => ({
                  label,
                  borderColor: css(colour),
                  backgroundColor: css(colour),
                  borderWidth: 2,
                  pointRadius: 3.5,
                  pointStyle: style,
                  data: points.filter(({point}) => y.holds(point[name])).map(({point, pointer}) => ({
                                                                               x: point.rate_requests_per_s,
                                                                               y: y.of(point[name]),
                                                                               rate: pointer + "/rate_requests_per_s",
                                                                               pointer: `${pointer}/${name}`
                                                                             }))
                }));
  const values = sets.flatMap((set) => set.data.map((d) => d.y));
  if (!values.length) return null;
  if (asked <= most) {
    sets.push({
      label: "asked",
      data: [Math.min(...values), Math.max(...values)].map((v) => ({x: asked, y: v})),
      borderColor: css("--mark"),
      backgroundColor: css("--mark"),
      borderWidth: 1.5,
      borderDash: [5, 4],
      pointRadius: 0,
      pointHitRadius: 0,
      pointStyle: "line"
    });
  }
  return {
    type: "line",
    data: {datasets: sets},
    options: {
      scales: {
        x: {
          type: "linear",
          min: 0,
          max: most,
          title: axisTitle("requests/s; shaded from the knee to the saturation"),
          grid: {color: css("--faint")},
          ticks: {includeBounds: false}
        },
        y: y.axis
      },
      plugins: {
        legend: {display: true},
        marks: {bands: [{low: knee, high: saturation, colour: faded(css("--band"), 0.14)}]},
        tooltip: {
          callbacks: {
            title: ([item]) => `${shown(item.raw.rate)} requests/s`,
            label: (item) => `${item.dataset.label} ${says(item.raw.pointer)}`
          }
        },
      },
    },
  };
}
charts["load-times"] = (at) => overRate(
    at,
    [
      ["ttft_p95_s", "TTFT p95", "--accent", "circle"], ["ttft_p50_s", "TTFT p50", "--t-attention", "triangle"],
      ["tpot_p95_s", "TPOT p95", "--m-activations", "rect"]
    ],
    {holds: isTime, of: (value) => value, axis: timeAxis("time")}, shownTime);
charts["load-shares"] = (at) => overRate(
    at,
    [
      ["good_share", "within all limits", "--m-activations", "rect"],
      ["kv_mean_share", "KV cache in use", "--t-tp_comm", "triangle"],
      ["busy_share", "an iteration runs", "--accent", "circle"]
    ],
    {
      holds: (value) => typeof value === "number",
      of: (value) => 100 * value,
      axis: {min: 0, max: 104, title: axisTitle("%"), grid: {color: css("--faint")}, ticks: {includeBounds: false}}
    },
    (pointer) => shown(pointer));

/** Iterations by their sequences. */
charts.batch = (at) => {
  const bins = member(at + "/batch_bins") || [];
  const all = bins.reduce((sum, bin) => sum + bin.iterations, 0);
  if (!all) return null;
  const bars = bins.map((bin, i) => ({
                          name: bin.first === bin.last ? `${bin.first}` : `${bin.first} to ${bin.last}`,
                          range: [0, 100 * bin.iterations / all],
                          colour: css("--t-gemm"),
                          pointer: `${at}/batch_bins/${i}/iterations`
                        }));
  const config = barChart(bars, "% of the iterations, by sequences", {});
  config.options.plugins.tooltip.callbacks.title = ([item]) => `${bars[item.dataIndex].name} sequences`;
  config.options.plugins.tooltip.callbacks.label =
      (item) => [`${shown(bars[item.dataIndex].pointer)} iterations`, percent(bins[item.dataIndex].iterations / all)];
  return config;
};

/** Rate and replicas over one period. */
charts.day = (at) => {
  const curve = member(at + "/curve") || [];
  if (curve.length < 2) return null;
  const [factor, unit] = scaleFor([[3600, "h"], [60, "min"], [1, "s"]], curve[curve.length - 1].time_s);
  const line = (name, label, colour, axis, more) => ({
    label,
    yAxisID: axis,
    borderColor: css(colour),
    backgroundColor: css(colour),
    borderWidth: 2,
    pointRadius: 0,
    pointHitRadius: 6,
    pointStyle: "line",
    data: curve.map((point) => ({x: point.time_s / factor, y: point[name], point})),
    ...more
  });
  const side = (title, position, more = {}) =>
      ({position, min: 0, title: axisTitle(title), grid: {color: css("--faint"), ...more}});
  return {
    type: "line",
    data: {
      datasets: [
        line("fixed_replicas", "replicas of the fixed fleet", "--muted", "y", {stepped: "before", borderDash: [5, 4]}),
        line("following_replicas", "replicas that follow", "--accent", "y", {stepped: "before"}),
        ...(typeof curve[0].floor_replicas === "number"
                ? [line("floor_replicas", "the floor", "--good", "y", {stepped: "before", borderDash: [2, 3]})]
                : []),
        line("rate_requests_per_s", "requests/s", "--t-tp_comm", "rate")
      ]
    },
    options: {
      scales: {
        x: {
          type: "linear",
          max: member(at + "/period_s") / factor,
          title: axisTitle(`time, ${unit}`),
          grid: {color: css("--faint")}
        },
        y: side("replicas", "left"),
        rate: side("requests/s", "right", {drawOnChartArea: false})
      },
      plugins: {
        legend: {display: true},
        tooltip: {
          callbacks: {
            title: ([item]) => `${digits(item.raw.x)} ${unit}`,
            label: ({raw: {point}}) =>
                [`${digits(point.rate_requests_per_s)} requests/s`,
                 `${point.following_replicas} replicas that follow, ${point.fixed_replicas} of the fixed fleet` +
                     (typeof point.floor_replicas === "number" ? `, ${point.floor_replicas} at the floor` : "")]
          }
        },
      },
    },
  };
};
