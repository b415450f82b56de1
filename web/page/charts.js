// Charts as SVG of their own: coloured by the style sheet, light or dark, each with a table of the same numbers below it.
import {element, fold, table} from "./dom.js";
import {quantity, scaleFor, tick, words} from "./format.js";

const figure = (title, svg, rows) =>
    element("figure.chart.plots", {}, element("figcaption", {}, title), svg, rows ? fold("numbers of " + title, "The numbers", rows) : null);

/** One bar in parts with a legend, against a capacity: memory of a GPU. */
export function stack(title, terms, unit, family, limit, interval) {
  const parts = Object.entries(terms).filter(([, value]) => value > 0).sort((a, b) => b[1] - a[1]);
  const total = parts.reduce((sum, [, value]) => sum + value, 0);
  const most = Math.max(total, limit?.value ?? 0, interval?.high ?? 0) * 1.02;
  const x = (value) => (100 * value / most).toFixed(3);
  let from = 0;
  const marks = parts.map(([term, value]) => {
    const rect = element(`rect.term.${family}-${term.replace(/ /g, "_")}`, {x: x(from), y: 6, width: x(value), height: 26},
                         element("title", {}, `${words(term)}: ${quantity(value, unit)}`));
    from += value;
    return rect;
  });
  if (interval) {
    marks.push(element("line.whisker", {x1: x(interval.low), x2: x(interval.high), y1: 19, y2: 19}),
               element("line.whisker", {x1: x(interval.low), x2: x(interval.low), y1: 14, y2: 24}),
               element("line.whisker", {x1: x(interval.high), x2: x(interval.high), y1: 14, y2: 24}));
  }
  if (limit) marks.push(element("line.limit", {x1: x(limit.value), x2: x(limit.value), y1: 0, y2: 38}));
  const svg = element("svg.stack", {viewBox: "0 0 100 38", preserveAspectRatio: "none", role: "img",
                      "aria-label": `${title}: ${quantity(total, unit)}${limit ? ` of ${quantity(limit.value, unit)}` : ""}`}, marks);
  const legend = element("ul.legend", {}, parts.map(([term, value]) => element("li", {},
      element(`i.term.${family}-${term.replace(/ /g, "_")}`, {"aria-hidden": true}), words(term), " ",
      element("b", {}, quantity(value, unit)))),
      limit ? element("li", {}, element("i.limit", {"aria-hidden": true}), limit.name, " ", element("b", {}, quantity(limit.value, unit))) : null);
  return element("figure.chart", {}, element("figcaption", {}, title), svg, legend);
}

/** Bars of named values, the largest first, each with its value in words: terms of a step, sensitivities. */
export function bars(title, entries, unit, family, note) {
  const most = Math.max(...entries.map(([, value]) => Math.abs(value)), 1e-300);
  return element("figure.chart.plots", {}, element("figcaption", {}, title), note ? element("p.note", {}, note) : null,
                 element("dl.bars", {}, entries.map(([term, value]) => [
                   element("dt", {}, words(term)),
                   element("dd", {}, element("svg", {viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": true},
                     element(`rect.term.${family}-${term.replace(/ /g, "_")}`, {x: 0, y: 0, height: 10, width: (100 * Math.abs(value) / most).toFixed(2)})),
                     element("span", {}, quantity(value, unit))),
                 ])));
}

const WIDE = 640, HIGH = 300, LEFT = 58, RIGHT = 14, TOP = 14, BOTTOM = 44;

/** Round values between two ends: 1, 2, 5 x 10^n, or powers of the scale where it is logarithmic. */
function ticks(low, high, log) {
  const found = [];
  if (log) {
    const steps = Math.log10(high / low) > 2.2 ? [1] : Math.log10(high / low) > 1.1 ? [1, 3] : [1, 2, 5];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power) {
      for (const step of steps) {
        const value = step * 10 ** power;
        if (value >= low * 0.999 && value <= high * 1.001) found.push(value);
      }
    }
    return found;
  }
  const rough = (high - low) / 5 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  for (let value = Math.ceil(low / step) * step; value <= high * 1.0001; value += step) found.push(Number(value.toPrecision(12)));
  return found;
}

/**
 * Points and lines over two axes.
 * x, y: {name, unit, log, least}; series: [{name, points: [{x, y, low, high, text, mark}], line, kind}]; limits: [{x|y, name}].
 */
export function plot(title, x, y, series, limits = [], onpick = null) {
  const all = series.flatMap((one) => one.points);
  if (all.length === 0) return null;
  const axis = (spec, values, from, to) => {
    let low = spec.least ?? Math.min(...values), high = Math.max(...values);
    if (spec.log) [low, high] = [low / 1.12, high * 1.12];
    else [low, high] = [spec.least ?? low - 0.05 * (high - low), high + 0.06 * (high - low || high || 1)];
    const of = spec.log ? Math.log : (v) => v;
    const [factor, name] = scaleFor(high / 2, spec.unit);
    return {low, high, factor, name, at: (v) => from + (to - from) * (of(v) - of(low)) / (of(high) - of(low) || 1)};
  };
  const within = (list, key) => list.filter((l) => l[key] !== undefined).map((l) => l[key]);
  const ax = axis(x, [...all.map((p) => p.x), ...within(limits, "x")], LEFT, WIDE - RIGHT);
  const ay = axis(y, [...all.flatMap((p) => [p.y, p.low ?? p.y, p.high ?? p.y]), ...within(limits, "y")], HIGH - BOTTOM, TOP);
  const marks = [];
  for (const value of ticks(ax.low / ax.factor, ax.high / ax.factor, x.log)) {
    const at = ax.at(value * ax.factor).toFixed(1);
    marks.push(element("line.grid", {x1: at, x2: at, y1: TOP, y2: HIGH - BOTTOM}),
               element("text", {x: at, y: HIGH - BOTTOM + 16, "text-anchor": "middle"}, tick(value)));
  }
  for (const value of ticks(ay.low / ay.factor, ay.high / ay.factor, y.log)) {
    const at = ay.at(value * ay.factor).toFixed(1);
    marks.push(element("line.grid", {x1: LEFT, x2: WIDE - RIGHT, y1: at, y2: at}),
               element("text", {x: LEFT - 6, y: Number(at) + 4, "text-anchor": "end"}, tick(value)));
  }
  const named = (spec, made) => spec.name + (made.name ? `, ${made.name}` : "");
  marks.push(element("text.axis", {x: (LEFT + WIDE) / 2, y: HIGH - 6, "text-anchor": "middle"}, named(x, ax)),
             element("text.axis", {x: 12, y: HIGH / 2 - 10, "text-anchor": "middle", transform: `rotate(-90 12 ${HIGH / 2 - 10})`}, named(y, ay)));
  for (const limit of limits) {
    const [at, upright] = limit.x !== undefined ? [ax.at(limit.x), true] : [ay.at(limit.y), false];
    marks.push(upright ? element("line.limit", {x1: at, x2: at, y1: TOP, y2: HIGH - BOTTOM})
                       : element("line.limit", {x1: LEFT, x2: WIDE - RIGHT, y1: at, y2: at}),
               upright ? element("text.limit", {x: at + 4, y: TOP + 10}, limit.name)
                       : element("text.limit", {x: LEFT + 4, y: at - 4}, limit.name));
  }
  series.forEach((one, index) => {
    const style = one.kind ?? `series-${index}`;
    if (one.line) {
      marks.push(element(`polyline.${style}`, {points: one.points.map((p) => `${ax.at(p.x).toFixed(1)},${ay.at(p.y).toFixed(1)}`).join(" ")}));
    }
    for (const point of one.points) {
      const [px, py] = [ax.at(point.x).toFixed(1), ay.at(point.y).toFixed(1)];
      if (point.low !== undefined && point.low !== point.high) {
        marks.push(element(`line.whisker.${style}`, {x1: px, x2: px, y1: ay.at(point.low).toFixed(1), y2: ay.at(point.high).toFixed(1)}));
      }
      const can = onpick && point.pick !== undefined;
      marks.push(element(`circle.${style}${point.mark ? ".taken" : ""}${can ? ".pick" : ""}`, {cx: px, cy: py, r: point.mark ? 7 : 4,
          onclick: can ? () => onpick(point.pick) : undefined}, element("title", {}, point.text)));
    }
  });
  const svg = element("svg.plot", {viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": title}, marks);
  const legend = series.length > 1 || series[0].name ? element("ul.legend", {}, series.map((one, index) => element("li", {},
      element(`i.${one.kind ?? `series-${index}`}`, {"aria-hidden": true}), one.name))) : null;
  const rows = table(title, [x.name, y.name, ""], all.map((p) => [quantity(p.x, x.unit), quantity(p.y, y.unit), p.text]), [1]);
  const made = figure(title, svg, rows);
  if (legend) svg.after(legend);
  return made;
}
