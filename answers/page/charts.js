// One function a chart: from a place in the documents to the library's configuration, or null where there is nothing.

const charts = {
  memory(at) {
    // Of a plan, or of a replica that serves.
    const held = at + (member(at + "/terms_bytes") ? "/terms_bytes" : "/memory_terms_bytes");
    const terms = Object.keys(member(held)).filter((t) => member(`${held}/${t}`) > 0);
    const capacity = member(at + "/capacity_bytes");
    const interval = member(at + "/memory_bytes");
    const [factor, unit] = scaleFor(byteScales, capacity);
    return {
      type: "bar",
      data: {
        labels: ["a GPU"],
        datasets: terms.map((term) => ({
                              label: words(term),
                              pointer: `${held}/${term}`,
                              data: [member(`${held}/${term}`) / factor],
                              backgroundColor: termColour("m", term),
                              borderColor: css("--paper"),
                              borderWidth: {top: 1},
                              barThickness: 96,
                            })),
      },
      options: {
        layout: {padding: {top: 4}},
        scales: {
          x: {stacked: true, display: false},
          y: {
            stacked: true,
            max: 1.06 * Math.max(capacity, interval ? interval.high : 0) / factor,
            ticks: {includeBounds: false},
            title: axisTitle(unit + " of the fullest GPU"),
            grid: {color: css("--faint")}
          },
        },
        plugins: {
          stackNames: {shown: true},
          tooltip:
              {callbacks: {title: (items) => items[0].dataset.label, label: (item) => shown(item.dataset.pointer)}},
          marks: {
            lines: [{at: capacity / factor, label: "capacity"}],
            whiskers: interval ? [{row: 0, low: interval.low / factor, high: interval.high / factor}] : [],
          },
        },
      },
    };
  },

  waterfall(at) {
    const terms = Object.entries(member(at + "/step_terms_s"));
    const step = member(at + "/step_time_s");
    const [factor, unit] = scaleFor(timeScales, step.mid);
    const bars = [];
    let end = 0;
    for (const [term, seconds] of terms) {
      bars.push({
        name: words(term),
        range: [end / factor, (end + seconds) / factor],
        colour: termColour("t", term),
        pointer: `${at}/step_terms_s/${term}`
      });
      end += seconds;
    }
    bars.push({
      name: "step",
      range: [0, step.mid / factor],
      colour: faded(css("--mark"), 0.55),
      pointer: at + "/step_time_s/mid",
      interval: at + "/step_time_s"
    });
    return barChart(
        bars, `exposed time, ${unit}`,
        {whiskers: [{row: bars.length - 1, low: step.low / factor, high: step.high / factor}]},
        1.02 * step.high / factor);
  },

  bill(at) {
    const items = member(at + "/bill");
    const total = member(at + "/total_usd");
    const middle = (usd) => (typeof usd === "number" ? usd : usd.mid);
    const most = Math.max(...items.map((i) => i.usd.high ?? i.usd), total ? total.high : 0);
    const [factor, unit] = scaleFor(moneyScales, most);
    const bars = items.map((item, i) => ({
                             name: words(item.item),
                             range: [0, middle(item.usd) / factor],
                             colour: termColour("t", "gemm"),
                             pointer: `${at}/bill/${i}/usd` + (typeof item.usd === "number" ? "" : "/mid"),
                             interval: `${at}/bill/${i}/usd`
                           }));
    if (total) {
      bars.push({
        name: "the whole bill",
        range: [0, total.mid / factor],
        colour: faded(css("--mark"), 0.55),
        pointer: at + "/total_usd/mid",
        interval: at + "/total_usd"
      });
    }
    const whiskers = bars.map((bar, row) => ({row, ...(member(bar.interval) || {})}))
                         .filter((w) => w.low !== undefined)
                         .map((w) => ({row: w.row, low: w.low / factor, high: w.high / factor}));
    return barChart(bars, `cost, ${unit}`, {whiskers}, 1.02 * most / factor);
  },

  sharing(at) {
    const bars = member(at + "/ways")
                     .map((way, i) => ({way, pointer: `${at}/ways/${i}/mean_speed`}))
                     .filter(({way}) => way.possible)
                     .map(({way, pointer}) => ({
                            name: way.way,
                            range: [0, 100 * way.mean_speed],
                            colour: way.holds ? termColour("t", "gemm") : faded(css("--mark"), 0.55),
                            pointer
                          }));
    return bars.length ? barChart(bars, "% of the tenants' speed alone", {}, 100) : null;
  },

  calendar(at) {
    const shares = Object.entries(member(at + "/shares"));
    return {
      type: "bar",
      data: {
        labels: ["calendar"],
        datasets: shares.map(([name, share]) => ({
                               label: words(name),
                               pointer: `${at}/shares/${name}`,
                               data: [100 * share],
                               backgroundColor: termColour("g", name),
                               barPercentage: 1,
                               categoryPercentage: 0.8
                             })),
      },
      options: {
        indexAxis: "y",
        scales: {
          x: {stacked: true, max: 100, title: axisTitle("% of the calendar"), grid: {color: css("--faint")}},
          y: {stacked: true, display: false}
        },
        plugins: {
          tooltip: {callbacks: {title: (items) => items[0].dataset.label, label: (item) => shown(item.dataset.pointer)}}
        },
      },
    };
  },

  roofline(at) {
    const {peak_flop_per_s: peak, bandwidth_bytes_per_s: bandwidth, l2_bytes_per_s: l2} = member(at);
    const rows = member(at + "/rows").map((row, i) => ({...row, pointer: `${at}/rows/${i}`})).filter((r) => r.flop > 0);
    const phases = [...new Set(rows.map((row) => row.phase))];
    const colours = [css("--accent"), css("--t-tp_comm"), css("--m-activations"), css("--t-offload")];
    const left = 10 ** Math.floor(Math.log10(Math.min(peak / bandwidth / 4, ...rows.map((row) => row.flop_per_byte))));
    const right = 10 ** Math.ceil(Math.log10(Math.max(2 * peak / bandwidth, ...rows.map((row) => row.flop_per_byte))));
    const bottom = 10 ** Math.floor(Math.log10(Math.min(...rows.map((row) => row.flop_per_s))));
    const roof = (rate) => [{x: left, y: left * rate}, {x: peak / rate, y: peak}, {x: right, y: peak}];
    const line = (label, data, more) => ({
      type: "line",
      label,
      data,
      pointRadius: 0,
      pointHitRadius: 0,
      borderWidth: 2,
      borderColor: css("--mark"),
      ...more
    });
    const lines = [
      line("memory", roof(bandwidth)),
      line("L2", roof(l2), {borderColor: css("--muted"), borderDash: [5, 4], borderWidth: 1.2})
    ];
    const points = phases.map(
        (phase, i) => ({
          label: phase,
          backgroundColor: faded(colours[i % colours.length], 0.85),
          borderColor: css("--paper"),
          radius: 5,
          pointStyle: ["circle", "triangle", "rect", "rectRot"][i % 4],
          hoverRadius: 7,
          data:
              rows.filter((row) => row.phase === phase).map((row) => ({x: row.flop_per_byte, y: row.flop_per_s, row})),
        }));
    const named = points.flatMap(
        (set, d) =>
            set.data.map(({row}, index) => ({dataset: d + lines.length, index, name: row.op, time: row.time_s})));
    named.sort((a, b) => b.time - a.time);
    return {
      type: "scatter",
      data: {datasets: [...lines, ...points]},
      options: {
        scales: {
          x: {
            type: "logarithmic",
            min: left,
            max: right,
            title: axisTitle("FLOP per byte of memory traffic"),
            grid: {color: css("--faint")},
            ticks: {callback: powersOfTen(digits), maxRotation: 0}
          },
          y: {
            type: "logarithmic",
            title: axisTitle("FLOP/s"),
            min: bottom,
            max: 2 * peak,
            grid: {color: css("--faint")},
            ticks: {callback: powersOfTen(si)}
          },
        },
        plugins: {
          legend: {display: true, labels: {filter: (item) => item.datasetIndex >= lines.length}},
          pointNames: {of: named},
          tooltip: {
            callbacks: {
              title: ([item]) => `${item.raw.row.op}, ${item.raw.row.phase}`,
              label: ({raw: {row}}) =>
                  [`${shown(row.pointer + "/time_s")}, ${shown(row.pointer + "/flop_per_s")}`,
                   `${shown(row.pointer + "/flop_per_byte")} FLOP per byte`,
                   `bound by ${row.bound}, ${shown(row.pointer + "/of_roof")} of the roof`]
            }
          },
        },
      },
    };
  },

  pareto(at) {
    const goals = {
      "cost": ["cost_usd", moneyScales, "cost"],
      "time": ["time_s", timeScales, "whole run"],
      "step-time": ["step_time_s", timeScales, "step"],
      "energy": ["energy_j", energyScales, "energy"],
      "gpu-hours": ["gpu_hours_per_million_samples", plainScales, "GPU-hours per M samples"],
      "gpus": ["gpus", plainScales, "GPUs"],
      "memory": ["memory_bytes", byteScales, "memory of the fullest GPU, up to"]
    };
    const [x, y] = member(at + "/pareto").slice(0, 2).map((goal) => goals[goal]);
    if (!x || !y) return null;
    const plans = (list) => (member(`${at}/${list}`) || []).map((plan, i) => ({plan, pointer: `${at}/${list}/${i}`}));
    const taken = [{plan: member(at + "/taken"), pointer: at + "/taken"}];
    const all = [...plans("front"), ...plans("best"), ...taken].filter(
        ({plan}) => plan[x[0]] !== undefined && plan[y[0]] !== undefined);
    const [xFactor, xUnit] = scaleFor(x[1], Math.max(...all.map(({plan}) => plan[x[0]])));
    const [yFactor, yUnit] = scaleFor(y[1], Math.max(...all.map(({plan}) => plan[y[0]])));
    const points = (list) =>
        list.filter((entry) => all.some((other) => other.pointer === entry.pointer))
            .map(({plan, pointer}) => ({x: plan[x[0]] / xFactor, y: plan[y[0]] / yFactor, plan, pointer}));
    const hover = ({raw: {plan, pointer}}) =>
        [...wrapped(strategyWords(plan.strategy)), `${x[2]}: ${shown(`${pointer}/${x[0]}`)}`,
         `${y[2]}: ${shown(`${pointer}/${y[0]}`)}`,
         ...(plan.indistinguishable ? ["within past errors of the plan taken"] : [])];
    const title = (goal, unit) => axisTitle(goal[2] + (unit ? ", " + unit : ""));
    return {
      type: "scatter",
      data: {
        datasets: [
          {
            label: "taken",
            data: points(taken),
            backgroundColor: css("--t-tp_comm"),
            borderColor: css("--paper"),
            pointStyle: "rectRot",
            radius: 8,
            hoverRadius: 10
          },
          {
            label: "best of each layout",
            data: points(plans("best")),
            backgroundColor: css("--m-activations"),
            borderColor: css("--paper"),
            radius: 5,
            pointStyle: "triangle"
          },
          {
            type: "line",
            label: "Pareto front",
            data: points(plans("front")),
            backgroundColor: css("--accent"),
            borderColor: faded(css("--accent"), 0.5),
            borderWidth: 1.5,
            stepped: "before",
            radius: 3.5,
            hoverRadius: 6
          },
        ],
      },
      options: {
        scales: {
          x: {title: title(x, xUnit), grid: {color: css("--faint")}},
          y: {title: title(y, yUnit), grid: {color: css("--faint")}}
        },
        plugins: {
          legend: {display: true},
          tooltip: {callbacks: {title: ([item]) => `${item.raw.plan.gpus} x ${item.raw.plan.gpu}`, label: hover}},
        },
      },
    };
  },

  "box-curve"(at) {
    const all = member(at + "/points").map((point, i) => ({point, pointer: `${at}/points/${i}`}));
    const points = (keep) => all.filter(({point}) => keep(point)).map(({point, pointer}) => ({
                                  x: point.output_tokens_per_s_per_user.mid,
                                  y: point.output_tokens_per_s_per_gpu.mid,
                                  point,
                                  pointer
                                }));
    const front = points((p) => p.front).sort((a, b) => a.x - b.x);
    const taken = member(at + "/taken");
    const hover = ({raw: {point, pointer}}) =>
        [...wrapped(point.changes.join(", ")), `tokens/s per GPU: ${shown(pointer + "/output_tokens_per_s_per_gpu")}`,
         `tokens/s per user: ${shown(pointer + "/output_tokens_per_s_per_user")}`,
         `TTFT: ${shown(pointer + "/ttft_s")}`];
    return {
      type: "scatter",
      data: {
        datasets: [
          {
            label: "taken",
            data: taken === undefined ? [] : points((p) => p === all[taken].point),
            backgroundColor: css("--t-tp_comm"),
            borderColor: css("--paper"),
            pointStyle: "rectRot",
            radius: 8,
            hoverRadius: 10
          },
          {
            type: "line",
            label: "Pareto front",
            data: front,
            backgroundColor: css("--accent"),
            borderColor: faded(css("--accent"), 0.5),
            borderWidth: 1.5,
            radius: 3.5,
            hoverRadius: 6
          },
          {
            label: "other layouts and loads",
            data: points((p) => !p.front),
            backgroundColor: faded(css("--m-activations"), 0.6),
            borderColor: css("--paper"),
            radius: 3
          },
        ],
      },
      options: {
        scales: {
          x: {title: axisTitle("tokens/s per user"), grid: {color: css("--faint")}},
          y: {title: axisTitle("tokens/s per GPU"), grid: {color: css("--faint")}}
        },
        plugins: {
          legend: {display: true},
          tooltip: {callbacks: {title: ([item]) => `${item.raw.point.in_flight} in flight`, label: hover}},
        },
      },
    };
  },

  "scaling-rate"(at) {
    const points = answeredPoints(at);
    if (points.length < 2) return null;
    const first = points[0];
    const series = (label, of, more) => ({
      label,
      data: points.map((p) => ({x: p.gpus, y: of(p), pointer: p.pointer})),
      borderColor: css("--accent"),
      backgroundColor: css("--accent"),
      borderWidth: 2,
      pointRadius: 4,
      ...more
    });
    const edge = {
      pointRadius: 0,
      pointHitRadius: 0,
      borderWidth: 0,
      backgroundColor: faded(css("--band"), 0.16),
      pointStyle: "rect"
    };
    return {
      type: "line",
      data: {
        datasets: [
          series("tokens/s", (p) => p.tokens_per_s.mid),
          series("low", (p) => p.tokens_per_s.low, edge),
          series("80 % interval", (p) => p.tokens_per_s.high, {...edge, fill: "-1"}),
          series("ideal", (p) => first.tokens_per_s.mid * p.gpus / first.gpus, {
            borderColor: css("--muted"),
            borderDash: [5, 4],
            borderWidth: 1.2,
            pointRadius: 0,
            pointHitRadius: 0,
            pointStyle: "line"
          }),
        ],
      },
      options: {
        scales: {
          x: gpuAxis(points),
          y: {
            type: "logarithmic",
            title: axisTitle("tokens/s"),
            grid: {color: css("--faint")},
            ticks: {callback: someLogTicks(si)}
          }
        },
        plugins: {
          legend: {display: true, labels: {filter: (item) => item.text !== "low"}},
          tooltip: {
            callbacks: {
              title: ([item]) => `${shown(item.raw.pointer + "/gpus")} GPUs`,
              label: (item) =>
                  [`${shown(item.raw.pointer + "/tokens_per_s/mid")} tokens/s`,
                   `step ${shown(item.raw.pointer + "/step_time_s/mid")} (${
                       shownRange(item.raw.pointer + "/step_time_s")})`]
            }
          },
        },
      },
    };
  },

  "scaling-share"(at) {
    const points = answeredPoints(at);
    if (points.length < 2) return null;
    const series = (label, name, colour, style) => ({
      label,
      borderColor: colour,
      backgroundColor: colour,
      borderWidth: 2,
      pointRadius: 4,
      pointStyle: style,
      data: points.filter((p) => p[name] !== undefined)
                .map((p) => ({x: p.gpus, y: 100 * p[name], pointer: `${p.pointer}/${name}`, count: p.pointer}))
    });
    return {
      type: "line",
      data: {
        datasets: [
          series("efficiency", "efficiency", css("--accent"), "circle"),
          series("marginal efficiency", "marginal_efficiency", css("--m-activations"), "rect"),
          series("exposed communication", "exposed_communication_share", css("--t-tp_comm"), "triangle")
        ]
      },
      options: {
        scales:
            {x: gpuAxis(points), y: {min: 0, suggestedMax: 100, title: axisTitle("%"), grid: {color: css("--faint")}}},
        plugins: {
          legend: {display: true},
          tooltip: {
            callbacks: {
              title: ([item]) => `${shown(item.raw.count + "/gpus")} GPUs`,
              label: (item) => `${item.dataset.label} ${shown(item.raw.pointer)}`
            }
          },
        },
      },
    };
  },

  accuracy(at) {
    const {width, width_50: half, width_80: most, width_90: nearly} = member(at + "/confidence_basis");
    const runs = ((member(at + "/nearest_runs") || {}).runs ||
                  []).map((run, i) => ({run, pointer: `${at}/nearest_runs/runs/${i}`}));
    const band = (w, alpha) => ({low: 1 / (1 + w), high: 1 + w, colour: faded(css("--band"), alpha)});
    const own = width ?? most;
    const bars = [
      {name: "this plan", range: [1 / (1 + own), 1 + own], colour: faded(css("--mark"), 0.55), of: null},
      ...runs.map(({run, pointer}) => ({
                    name: `${run.model}, ${run.gpus} GPUs`,
                    range: [1, 1 + run.step_error],
                    pointer: pointer + "/step_error",
                    colour: css("--t-tp_comm"),
                    run
                  }))
    ];
    const farthest =
        Math.max(1 + nearly, ...runs.map(({run}) => Math.max(1 + run.step_error, 1 / (1 + run.step_error)))) * 1.08;
    const config =
        barChart(bars, "", {bands: [band(nearly, 0.1), band(most, 0.12), band(half, 0.16)], lines: [{at: 1}]});
    Object.assign(config.options.scales.x, {
      type: "logarithmic",
      min: 1 / farthest,
      max: farthest,
      title: axisTitle("predicted / measured time"),
      ticks: {callback: (value) => digits(value), maxRotation: 0},
      afterBuildTicks: (axis) => {
        axis.ticks = [0.25, 0.5, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 4]
                         .filter((v) => v >= 1 / farthest && v <= farthest)
                         .map((value) => ({value}));
      }
    });
    config.options.plugins.tooltip.callbacks.label = ({raw, dataIndex}) =>
        (dataIndex === 0 ? `80 % interval: a factor of ${digits(1 + own)} either way` :
                           [`our step ${shown(bars[dataIndex].pointer)}`, ...wrapped(bars[dataIndex].run.source)]);
    return config;
  },

  comparison(at) {
    const plans = member(at + "/plans");
    const compared = plans.map((plan, i) => ({plan, i}))
                         .filter(({plan}) => plan.against_reference && plan.against_reference.terms_s);
    if (!compared.length) return null;
    const terms = [...new Set(compared.flatMap(({plan}) => Object.keys(plan.against_reference.terms_s)))];
    const [factor, unit] =
        scaleFor(timeScales, Math.max(...compared.map(({plan}) => Math.abs(plan.against_reference.step_s))));
    return {
      type: "bar",
      data: {
        labels: compared.map(({plan}) => plan.file.split("/").pop().replace(/\.toml$/, "")),
        datasets: terms.map((term) => ({
                              label: words(term),
                              backgroundColor: termColour("t", term),
                              stack: "terms",
                              data: compared.map(({plan}) => (plan.against_reference.terms_s[term] || 0) / factor)
                            })),
      },
      options: {
        indexAxis: "y",
        scales: {
          x: {stacked: true, title: axisTitle(`step less the reference's, ${unit}`), grid: {color: css("--faint")}},
          y: {stacked: true, grid: {display: false}}
        },
        plugins: {
          legend: {display: true},
          tooltip: {callbacks: {label: (item) => `${item.dataset.label} ${digits(item.raw)} ${unit}`}}
        },
      },
    };
  },
};

/** Bars of [from, to] with a name, a colour and the member that hovering tells. */
function barChart(bars, title, marksOfChart, max) {
  return {
    type: "bar",
    data: {
      labels: bars.map((bar) => bar.name),
      datasets: [{
        data: bars.map((bar) => bar.range),
        backgroundColor: bars.map((bar) => bar.colour),
        borderSkipped: false,
        minBarLength: 2,
        barPercentage: 0.86,
        categoryPercentage: 0.9
      }]
    },
    options: {
      indexAxis: "y",
      scales: barAxes(title, {max, ticks: {includeBounds: false}}),
      plugins: {
        marks: marksOfChart,
        tooltip: {
          callbacks: {
            label: (item) => {
              const bar = bars[item.dataIndex];
              return bar.interval ? [shown(bar.pointer), shownRange(bar.interval)].filter(Boolean) : shown(bar.pointer);
            }
          }
        },
      },
    },
  };
}

const answeredPoints = (at) => member(at + "/points")
                                   .map((point, i) => ({...point, pointer: `${at}/points/${i}`}))
                                   .filter((point) => point.answered);

function gpuAxis(points) {
  return {
    type: "logarithmic",
    min: points[0].gpus / 1.15,
    max: points[points.length - 1].gpus * 1.15,
    title: axisTitle("GPUs"),
    grid: {color: css("--faint")},
    ticks: {callback: (value) => value, maxRotation: 0, autoSkipPadding: 10},
    afterBuildTicks: (axis) => {
      axis.ticks = points.map((point) => ({value: point.gpus}));
    }
  };
}

const isPower = (value) => Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-9;
const powersOfTen = (text) => (value) => (isPower(value) ? text(value) : "");
const someLogTicks = (text) => (value) => (/^[125]/.test(value.toExponential()) ? text(value) : "");
