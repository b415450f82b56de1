// An answer on the page: the verdict, the numbers that a planner needs first, then what they are made of.
import {element, fold, table} from "./dom.js";
import {chance, digits, hasInterval, interval, middle, parts, quantity, words} from "./format.js";
import {bars, plot, stack} from "./charts.js";
import {assignmentOf} from "./state.js";

/** A number with its interval as a card; nothing where the answer has none. */
function card(title, number, unit, note = "") {
  if (number === undefined || number === null) return null;
  const mid = middle(number);
  const [shown, name] = parts(mid, unit);
  const made = [element("h3", {}, title), element("p.big", {}, element("data", {value: String(mid)}, shown, name ? element("small", {}, "\u00a0" + name) : null))];
  if (hasInterval(number)) {
    made.push(intervalBar(number), element("p.ends", {}, interval(number, unit)));
  }
  if (note) made.push(element("p.ends", {}, note));
  return element("div.card", {}, made);
}

/** Where the middle lies between the ends, on a scale from half to twice of it. */
function intervalBar({low, mid, high}) {
  const at = (value) => Math.min(100, Math.max(0, 50 + 50 * Math.log2(Math.max(value, 1e-300) / mid)));
  return element("svg.interval", {viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": true},
                 element("rect.rail", {x: 0, y: 2, width: 100, height: 4}),
                 element("rect.range", {x: at(low), y: 1, width: Math.max(0.5, at(high) - at(low)), height: 6}),
                 element("rect.mid", {x: 49.5, y: 0, width: 1, height: 8}));
}

const percent = (share) => quantity(share, "%");

/** The verdict: good, doubtful or bad, and its sentence. */
export function verdictOf(doc) {
  if (doc.schema === "headroom.error/1") return {mood: "bad", text: "This cannot be answered as it stands."};
  const plan = doc.plan ?? doc;
  const part = partOf(doc);
  const machines = part?.gpus > 0 ? `take ${quantity(part.gpus, "")} GPU${part.gpus === 1 ? "" : "s"} (${doc.gpu})` : "";
  const text = (doc.verdict_text ?? plan.verdict_text ?? (part?.why || machines)) || (inWords(doc) ? doc.verdict ?? "It is answered below." : "");
  const probability = doc.kept_probability ?? plan.fits_probability ?? part?.probability;
  const asked = doc.asked_probability ?? plan.asked_probability ?? 0.8;
  if (doc.feasible === false || (plan.verdict !== undefined && plan.verdict !== "feasible")) {
    return {mood: "bad", text: text || "no plan of this is feasible"};
  }
  const taken = doc.schema === "headroom.search/1" && doc.taken ? `take ${strategyText(doc.taken.strategy)}: ` : "";
  const sure = probability !== undefined && !/probability/.test(text) ? `, with probability ${chance(probability)}` : "";
  return {mood: probability !== undefined && probability < asked ? "warn" : "good", text: taken + text + sure + outcome(plan)};
}

/** "; 349 days and 12.8 M$ on 512 GPUs": what a training plan comes to, where its sentence is about memory alone. */
function outcome(plan) {
  if (plan.kind !== "train") return "";
  const told = [plan.duration_s ? quantity(middle(plan.duration_s), "s") : plan.step_time_s && `${quantity(middle(plan.step_time_s), "s")} a step`,
                plan.cost_usd && quantity(middle(plan.cost_usd), "$")].filter(Boolean);
  return told.length > 0 ? `; ${told.join(" and ")} on ${quantity(plan.gpus, "")} GPUs` : "";
}

export function strategyText(strategy) {
  if (!strategy) return "";
  const shown = ["tp", "pp", "dp", "cp", "ep"].filter((axis) => strategy[axis] > 1).map((axis) => `${axis} ${strategy[axis]}`);
  if (strategy.vpp > 1) shown.push(`vpp ${strategy.vpp}`);
  shown.push(`micro-batch ${strategy.micro_batch}`, `ZeRO ${strategy.zero}`);
  if (strategy.recompute !== "none") shown.push(`recompute ${strategy.recompute}`);
  return shown.join(", ");
}

function trainCards(plan) {
  return [
    card("Memory of a GPU", plan.memory_bytes, "B", plan.capacity_bytes ? `of ${quantity(plan.capacity_bytes, "B")}` : ""),
    card("Step", plan.step_time_s, "s"),
    card("Tokens per second", plan.tokens_per_s, "tokens/s"),
    card("MFU", plan.mfu, "%", "of the peak without sparsity"),
    card("The whole run", plan.duration_s, "s", plan.tokens ? quantity(plan.tokens, "tokens") : ""),
    card("Cost", plan.cost_usd, "$", plan.price_source ?? ""),
    card("Per million tokens", plan.usd_per_million_tokens, "$"),
    card("Energy", plan.energy?.run_j ?? plan.energy?.step_j, "J", plan.energy?.run_j ? "of the run" : "of a step"),
    card("GPU-hours", plan.gpu_hours, "GPU-h"),
  ];
}

function serveCards(plan) {
  return [
    card("First token (TTFT)", plan.ttft_s, "s"),
    card("Time per token (TPOT)", plan.tpot_s, "s"),
    card("Answer tokens per second", plan.output_tokens_per_s, "tokens/s"),
    card("Requests per second", plan.requests_per_s, "req/s"),
    card("Per million answer tokens", plan.usd_per_million_output_tokens, "$", plan.price_source ?? ""),
    card("Energy per million answer tokens", plan.energy?.j_per_million_output_tokens, "J"),
    card("Requests at once", plan.kv_capacity_sequences, "", "that the KV cache holds"),
  ];
}

function fleetCards(doc) {
  const option = doc.options?.[0];
  if (!option) return [];
  const replicas = option.sized ? option.sized.replicas + (option.sized.spare ?? 0) : undefined;
  return [
    card("GPUs", option.gpus, "", option.option_text ?? ""),
    card("Replicas", replicas, "", option.sized?.spare ? `${option.sized.spare} of them spare` : ""),
    card("First token, 95 of 100", doc.intervals?.ttft_s?.p95, "s"),
    card("Time per token, 95 of 100", doc.intervals?.tpot_s?.p95, "s"),
    card("Price", option.usd_per_s, "$/h", doc.money?.price_source ?? ""),
    card("Per million answer tokens", option.usd_per_million_output_tokens, "$"),
    card("Energy per million answer tokens", doc.energy?.j_per_million_output_tokens, "J"),
    card("Load", option.sized?.load_share, "%", "of what the fleet could answer"),
  ];
}

/** Answers that the page draws by its own cards and charts; of others it shows their numbers, and their text. */
const DRAWN = new Set(["plan", "search", "fleet", "box", "scale", "error"].map((name) => `headroom.${name}/1`));
export const inWords = (doc) => doc.schema !== undefined && !DRAWN.has(doc.schema);
/** Whether `headroom explain` says more of such an answer. */
export const explained = (doc) => ["headroom.plan/1", "headroom.search/1", "headroom.classic/1", "headroom.cluster/1", "headroom.post-training/1"].includes(doc.schema);

/** What a batch answers: its requests, its clients or its job. */
const partOf = (doc) => doc.schema === "headroom.batch/1" ? doc.requests ?? doc.clients ?? doc.job : undefined;

/** The unit in a member's name (docs/json.md) and the name without it: "step_time_s", "usd_per_million_records". */
function unitOfName(name) {
  const rules = [[/_?flop_per_s/, "FLOP/s"], [/_flop(?![a-z_])/, "FLOP"], [/tokens_per_s(?!\w)/, "tokens/s"], [/_?usd_per_s/, "$/h"], [/_per_s(?![a-z])/, "/s"], [/_per_usd/, "/$"],
                 [/(^|_)usd(?![a-z])/, "$"], [/_bytes(?![a-z])/, "B"], [/_j(?![a-z])/, "J"], [/_w(?![a-z])/, "W"], [/_s(?![a-z])/, "s"]];
  const [end, unit] = rules.find(([one]) => one.test(name)) ?? [null, ""];
  return [end ? name.replace(end, "").replace(/^_/, "") || name.replace(/_per_.*/, "") : name, unit];
}
const isNumber = (value) => typeof value === "number" || (typeof value?.mid === "number");

/** A card of every number of an answer that the page has no cards for. */
function generalCards(doc) {
  const made = [];
  const add = (of, before = "") => {
    for (const [name, value] of Object.entries(of ?? {})) {
      if (!isNumber(value) || /^(asked_probability|call_width|width|size)$/.test(name)) continue;
      const [plain, unit] = unitOfName(name);
      const share = unit === "" && !name.includes("_per_") && middle(value) > 0 && middle(value) < 1;
      made.push(card(before + words(plain), value, share ? "%" : unit));
    }
  };
  add(doc);
  add(partOf(doc));
  if (doc.schema === "headroom.batch/1") add(doc.serving);
  if (doc.schema === "headroom.sharing/1") add(doc.plan);
  for (const side of ["gpu", "cpu"]) if (typeof doc[side] === "object") add(doc[side], `${side.toUpperCase()}: `);
  return made.slice(0, 24);
}

/** The numbers in front. */
export function cards(doc) {
  const plan = doc.plan ?? doc;
  const made = inWords(doc) ? generalCards(doc)
      : doc.schema === "headroom.fleet/1" ? fleetCards(doc) : plan.kind === "serve" ? serveCards(plan) : trainCards(plan);
  const there = made.filter((one) => one !== null);
  return there.length === 0 ? null : element("div.cards", {}, there);
}

/** What memory, time, money and promises are made of. */
export function charts(doc) {
  const plan = doc.plan ?? doc;
  const made = [];
  const memory = plan.memory_terms_bytes ?? doc.memory?.terms_bytes;
  const capacity = plan.capacity_bytes ?? doc.memory?.capacity_bytes;
  if (memory) {
    made.push(stack("Memory of the fullest GPU", memory, "B", "m", capacity ? {value: capacity, name: "capacity"} : null,
                    typeof plan.memory_bytes === "object" ? plan.memory_bytes : null));
  }
  const terms = (of) => Object.entries(of).filter(([, value]) => value > 0).sort((a, b) => b[1] - a[1]);
  if (plan.step_terms_s) made.push(bars("Where a step goes", terms(plan.step_terms_s), "s", "t", plan.binds));
  if (plan.decode_terms_s) made.push(bars("Where an iteration of decodes goes", terms(plan.decode_terms_s), "s", "t", plan.binds));
  if (plan.prompt_terms_s) made.push(bars("Where a prompt goes", terms(plan.prompt_terms_s), "s", "t"));
  if (doc.promises?.length > 0) made.push(promises(doc.promises));
  const promised = (time) => doc.promises?.find((p) => p.promise.startsWith(time));
  made.push(tails("Time to the first token", doc.intervals?.ttft_s, promised("ttft")), tails("Time per token", doc.intervals?.tpot_s, promised("tpot")));
  const useful = (plan.sensitivities ?? []).filter((s) => s.faster > 0.0005).map((s) => [s.resource, s.faster]);
  if (useful.length > 0) made.push(bars("What 10 % more would save of a step", useful.sort((a, b) => b[1] - a[1]), "%", "t"));
  const bill = plan.money?.bill ?? [];
  if (bill.length > 1) made.push(bars("The bill", bill.map((line) => [line.item, middle(line.usd)]), "$", "t"));
  return made;
}

function promises(list) {
  return element("figure.chart", {}, element("figcaption", {}, "Promises"),
                 table("Promises", ["promise", "limit", "reached", "kept with probability"], list.map((p) => [
                   words(p.promise).replace("ttft", "first token").replace("tpot", "time per token"), quantity(p.limit_s, "s"),
                   hasInterval(p.reached_s) ? `${quantity(p.reached_s.mid, "s")} (${interval(p.reached_s, "s")})` : quantity(middle(p.reached_s), "s"),
                   chance(p.kept_probability ?? (p.kept ? 1 : 0))]), [1, 2, 3]));
}

/** Quantiles of one time of the requests, each with its interval, and what is promised of it. */
function tails(title, times, limit) {
  const points = [["p50", 0.5], ["p90", 0.9], ["p95", 0.95], ["p99", 0.99]].filter(([name]) => times?.[name]).map(([name, share]) => {
    const one = times[name];
    return {x: 100 * share, y: middle(one), low: one.low, high: one.high, text: `${name}: ${quantity(middle(one), "s")}`};
  });
  return points.length < 2 ? null : plot(title, {name: "of 100 requests", unit: ""}, {name: "time", unit: "s", least: 0},
      [{name: "", line: true, points}], limit ? [{y: limit.limit_s, name: "promised"}] : []);
}

/** How many GPUs keep the promises at other rates: [{rate, doc}] of fleets. */
export function rates(fleets, take) {
  const points = fleets.filter(({doc}) => doc.options?.[0]).map(({rate, doc}) => {
    const option = doc.options[0];
    return {x: rate, y: option.gpus, pick: [["traffic.rate", `${rate} req/s`]], text: `${rate} req/s: ${option.gpus} GPUs` +
        (option.usd_per_s ? `, ${quantity(option.usd_per_s, "$/h")}` : "") + (option.usd_per_million_output_tokens ?
        `, ${quantity(middle(option.usd_per_million_output_tokens), "$")} per million answer tokens` : "")};
  });
  return points.length < 2 ? null : plot("GPUs that keep the promises, by rate", {name: "requests/s", unit: "", log: true}, {name: "GPUs", unit: "", log: true},
                                         [{name: "", line: true, points}], [], take);
}

/** The curve beside the answer: a series of GPU counts, or the points of a box. `take` sets keys of the question;
 *  `asked`: the requests in flight that are asked about. */
export function curve(doc, take, asked = undefined) {
  if (doc.schema === "headroom.scale/1") {
    const points = doc.points.filter((p) => p.answered && p.tokens_per_s);
    const mine = (p, y) => ({x: p.gpus, y: middle(y), low: y.low, high: y.high, pick: [["hardware.gpus", String(p.gpus)]],
                             text: `${p.gpus} GPUs: ${quantity(middle(p.tokens_per_s), "tokens/s")}, ${percent(p.efficiency)} efficient, step ${quantity(middle(p.step_time_s), "s")}`});
    const money = points.filter((p) => p.usd_per_million_tokens);
    return [
      plot("Tokens per second by GPUs", {name: "GPUs", unit: "", log: true}, {name: "rate", unit: "tokens/s", log: true},
           [{name: "", line: true, points: points.map((p) => mine(p, p.tokens_per_s))}], [], take),
      money.length > 1 ? plot("Price of a million tokens by GPUs", {name: "GPUs", unit: "", log: true}, {name: "$ per million tokens", unit: "", least: 0},
           [{name: "", line: true, kind: "series-2", points: money.map((p) => mine(p, p.usd_per_million_tokens))}], [], take) : null,
      doc.knee_gpus ? element("p.note", {}, `Up to ${doc.knee_gpus} GPUs each further one gives at least ${percent(doc.threshold)} of what it costs.`) : null,
    ];
  }
  if (doc.schema === "headroom.box/1") {
    const families = new Map();
    doc.points.forEach((p, i) => {
      const name = p.changes.filter((change) => !change.startsWith("serving.concurrency")).join(", ").replace(/strategy\./g, "").replace(/=/g, " ") || "as stated";
      const list = families.get(name) ?? families.set(name, []).get(name);
      const here = p.in_flight === asked;
      list.push({x: p.output_tokens_per_s_per_user.mid, y: p.output_tokens_per_s_per_gpu.mid, mark: here || (asked === undefined && i === doc.taken),
                 pick: p.changes.map(assignmentOf).filter(Boolean),
                 text: `${p.in_flight} in flight${name === "as stated" ? "" : ", " + name}: TTFT ${quantity(p.ttft_s.mid, "s")}, TPOT ${quantity(p.tpot_s.mid, "s")}, ` +
                       `${quantity(p.output_tokens_per_s.mid, "tokens/s")}${p.kept ? "" : ", breaks a promise"}`});
    });
    return [
      plot("Throughput against latency", {name: "tokens/s of a user", unit: "", log: true}, {name: "tokens/s of a GPU", unit: "", log: true},
           [...families].map(([name, points]) => ({name, line: true, points})),
           doc.tpot_mean_limit_s ? [{x: 1 / doc.tpot_mean_limit_s, name: "promise"}] : [], take),
      element("p.note", {}, doc.verdict_text ?? ""),
    ];
  }
  return [];
}

/** One change of the question as a button. */
function changeButton(changes, take, note = "") {
  const pairs = changes.map(assignmentOf).filter(Boolean);
  const text = pairs.map(([key, value]) => `${key} = ${value}`).join(", ") || changes.join(", ");
  return element("li", {}, pairs.length > 0 ? element("button.change", {type: "button", onclick: () => take(pairs)}, text) : text, note ? " " + note : null);
}

/** Why not, and the ways out: what is wrong with the question, broken rules, changes that help. */
export function waysOut(doc, take) {
  const plan = doc.plan ?? doc;
  const made = [];
  if (doc.schema === "headroom.error/1") {
    made.push(element("ul.problems", {}, doc.errors.map((e) => element("li", {}, [placeOf(e), e.message].filter(Boolean).join(": ")))));
    if (doc.untold) made.push(element("p.note", {}, `and ${doc.untold} more`));
  }
  const problems = plan.problems ?? [];
  if (problems.length > 0) {
    made.push(element("ul.problems", {}, problems.map((p) => element("li", {}, p.text, p.way_out ? element("p.note", {}, "Way out: " + p.way_out) : null))));
  }
  if (doc.no_help_reason) made.push(element("p", {}, doc.no_help_reason.text));
  if (doc.way_out?.length) made.push(element("ul.problems", {}, doc.way_out.map((line) => element("li", {}, line))));
  const fixes = [];
  for (const remedy of plan.remedies ?? []) {
    const notes = [remedy.memory_bytes && quantity(middle(remedy.memory_bytes), "B"), remedy.step_time_s && `step ${quantity(middle(remedy.step_time_s), "s")}`];
    fixes.push(changeButton(remedy.changes ?? [], take, notes.filter(Boolean).join(", ")));
  }
  for (const [name, note] of [["changes", ""], ["changes_of_weights", "with narrower weights"], ["changes_for_all", "for all of them at once"]]) {
    if (plan[name]?.length > 0) fixes.push(changeButton(plan[name], take, note));
  }
  if (fixes.length > 0) made.push(element("h3", {}, "What makes it fit"), element("ul.changes", {}, fixes));
  const left = doc.left_out ?? [];
  if (left.length > 0) {
    made.push(fold("left out", `Why not the others (${left.length})`, table("Left out", ["what", "why"],
        left.map((one) => [(one.changes ?? []).join(", ") || one.option_text || "as stated", one.why]))));
  }
  return made;
}

/** A pointer as the key of a box: entries of lists are counted from one there. */
const keyOf = (pointer) => pointer.replace(/^\/(scenario|set)\//, "").split("/").map((step) => (/^\d+$/.test(step) ? String(Number(step) + 1) : step)).join(".");
const placeOf = (e) => (e.path && keyOf(e.path)) || (e.file ? e.file + (e.line ? `:${e.line}${e.column ? `:${e.column}` : ""}` : "") : "");

/** The best of a search, its neighbours, and why they lose. */
export function choices(doc, take) {
  if (doc.schema !== "headroom.search/1" || !doc.best?.length) return [];
  const row = (one) => [strategyText(one.strategy), quantity(one.step_time_s, "s"), quantity(one.memory_bytes, "B"),
                        one.behind ? percent(one.behind) : "", one.because ?? "",
                        element("button.change", {type: "button", onclick: () => take(one.assignments.map(assignmentOf).filter(Boolean))}, "state it")];
  return [element("h3", {}, "The best of each layout"),
          table("The best of each layout", ["strategy", "step", "memory", "behind", "because", ""], doc.best.map(row), [1, 2, 3]),
          element("p.note", {}, `${digits(doc.space?.strategies ?? 0)} strategies looked at.`)];
}

/** What was assumed, where numbers come from, how sure they are. */
export function sources(doc) {
  const plan = doc.plan ?? doc;
  const made = [];
  const list = (items) => element("ul", {}, items.map((item) => element("li", {}, item)));
  const assumed = plan.assumed ?? doc.assumed ?? [];
  if (assumed.length > 0) made.push(fold("assumed", `What was assumed (${assumed.length})`, list(assumed)));
  const basis = plan.confidence_basis;
  const trust = [
    basis && `80 % of measured runs of the class “${plan.confidence}” lay within ±${percent(basis.width_80)} of what the model says (${digits(basis.rows)} rows of ${basis.sources} sources).`,
    plan.interval_source && `Intervals: ${plan.interval_source}.`, doc.times_source && `Times: ${doc.times_source}.`,
    ...(basis?.outside_measured ?? []).map((fact) => `Outside of what was measured: ${fact}`), ...(plan.kernels ?? []),
    (plan.price_source ?? doc.money?.price_source) && `Price: ${plan.price_source ?? doc.money.price_source}.`,
    (plan.energy ?? doc.energy)?.source && `Energy: ${(plan.energy ?? doc.energy).source}.`,
  ].filter(Boolean);
  if (trust.length > 0) made.push(fold("trust", "How sure, and by which measurements", list([...new Set(trust)])));
  const runs = plan.nearest_runs?.runs ?? [];
  if (runs.length > 0) {
    made.push(fold("nearest", `The nearest measured runs (${runs.length})`, table("The nearest measured runs",
        ["run", "source", "measured", "predicted"], runs.map((r) => [`${r.model} on ${r.gpus} × ${r.gpu}, ${r.framework}`, r.source,
        `${digits(r.measured)} ${r.unit}`, `${digits(r.predicted)} ${r.unit}`]), [2, 3])));
  }
  return made;
}
