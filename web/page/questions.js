// The questions of the page. Three have a form of their own: which keys stand in front, in which order, under which
// label. Everything else about a field (type, bounds, words, help) comes from the engine's table of keys, and so do the
// whole forms of the other kinds.
import {EXAMPLES} from "./examples.js";

/** slider: ends of a range beside the box, on a scale of ratios. from: what the engine lists, for the box to complete. */
const hardware = (least, most) => [
  {key: "hardware.gpu", label: "GPU", from: "gpus"},
  {key: "hardware.gpus", label: "GPUs", slider: [least, most], steps: "powers"},
];
const money = [
  {key: "money.prices", label: "Price list", from: "prices"},
  {key: "money.price", label: "or a price", hint: "2.99 $/h"},
];

export const QUESTIONS = [
  {
    id: "train",
    title: "Train",
    asks: "Does it fit, how long does it take, and what does it cost?",
    is: (state) => state.get("kind") === "train",
    groups: [
      {title: "Model and machine", fields: [{key: "model", label: "Model", from: "models", config: true}, ...hardware(1, 16384)]},
      {title: "Training", fields: [
        {key: "training.seq_len", label: "Sequence length", slider: [512, 131072], steps: "powers"},
        {key: "training.global_batch", label: "Sequences per step", slider: [8, 8192], steps: "powers"},
        {key: "training.tokens", label: "Tokens of the run", hint: "15e12", slider: [1e9, 1e14]},
        {key: "training.precision", label: "Precision"},
        {key: "training.software", label: "Software"},
      ]},
      {title: "Strategy", note: "What is left blank is found: the fastest strategy that fits.", fields: [
        {key: "strategy.tp", label: "Tensor ranks (tp)", short: true}, {key: "strategy.pp", label: "Stages (pp)", short: true},
        {key: "strategy.cp", label: "Context ranks (cp)", short: true}, {key: "strategy.zero", label: "ZeRO stage", short: true},
        {key: "strategy.micro_batch", label: "Micro-batch", short: true}, {key: "strategy.recompute", label: "Recompute", short: true},
      ]},
      {title: "Money and time", fields: [...money, {key: "objective.deadline", label: "Deadline", hint: "30 days", needs: "search"}]},
    ],
    start: {
      "kind": "train", "model": "llama3-70b", "hardware.gpu": "h100-sxm-80gb", "hardware.gpus": "512",
      "training.seq_len": "8192", "training.global_batch": "1024", "training.tokens": "15e12", "training.precision": "bf16",
      "strategy.tp": "8", "strategy.pp": "4", "money.prices": "lambda-2026-08",
    },
  },
  {
    id: "load",
    title: "Serve a fixed load",
    asks: "How fast do these GPUs answer with so many requests in flight?",
    is: (state) => state.get("kind") === "serve" && !isFleet(state),
    groups: [
      {title: "Model and machine", fields: [{key: "model", label: "Model", from: "models", config: true}, ...hardware(1, 64)]},
      {title: "Load", fields: [
        {key: "serving.isl", label: "Prompt tokens", slider: [32, 131072], steps: "powers"},
        {key: "serving.osl", label: "Answer tokens", slider: [8, 16384], steps: "powers"},
        {key: "serving.concurrency", label: "Requests in flight", slider: [1, 1024]},
      ]},
      {title: "Promises", note: "Means, as a fixed load has them.", fields: [
        {key: "slo.ttft_mean", label: "First token within", hint: "1 s", short: true},
        {key: "slo.tpot_mean", label: "A token within", hint: "50 ms", short: true},
      ]},
      {title: "Engine and layout", fields: [
        {key: "serving.engine", label: "Engine", short: true}, {key: "strategy.tp", label: "Tensor ranks (tp)", short: true},
        {key: "serving.weights", label: "Weights", short: true}, {key: "serving.kv_cache", label: "KV cache", short: true},
      ]},
      {title: "Money", fields: money},
    ],
    start: {
      "kind": "serve", "model": "llama3-70b", "hardware.gpu": "h100-sxm-80gb", "hardware.gpus": "8", "serving.isl": "2048",
      "serving.osl": "256", "serving.concurrency": "64", "strategy.tp": "8", "money.prices": "lambda-2026-08",
    },
  },
  {
    id: "fleet",
    title: "Serve arriving requests",
    asks: "How many replicas keep the promises at this rate?",
    is: isFleet,
    groups: [
      {title: "Model and machine", fields: [{key: "model", label: "Model", from: "models", config: true},
                                           {key: "hardware.gpu", label: "GPU", from: "gpus"}]},
      {title: "Traffic", fields: [
        {key: "traffic.rate", label: "Requests per second", hint: "12 req/s", slider: [0.1, 1000], unit: "req/s"},
        {key: "serving.isl", label: "Prompt tokens", slider: [32, 131072], steps: "powers"},
        {key: "serving.osl", label: "Answer tokens", slider: [8, 16384], steps: "powers"},
      ]},
      {title: "Promises", note: "95 of 100 requests keep them.", fields: [
        {key: "slo.ttft_p95", label: "First token within", hint: "1 s", short: true},
        {key: "slo.tpot_p95", label: "A token within", hint: "50 ms", short: true},
        {key: "fleet.spare", label: "Spare replicas", short: true}, {key: "fleet.replicas", label: "Replicas at hand", short: true},
      ]},
      {title: "Engine and layout", fields: [
        {key: "serving.engine", label: "Engine", short: true}, {key: "strategy.tp", label: "Tensor ranks (tp)", short: true},
        {key: "serving.weights", label: "Weights", short: true}, {key: "serving.kv_cache", label: "KV cache", short: true},
      ]},
      {title: "Money", fields: money},
    ],
    start: {
      "kind": "serve", "model": "llama3.1-70b", "hardware.gpu": "h100-sxm-80gb", "strategy.tp": "4", "serving.isl": "1024",
      "serving.osl": "256", "serving.weights": "fp8", "serving.kv_cache": "fp8", "traffic.rate": "12 req/s",
      "slo.ttft_p95": "1 s", "slo.tpot_p95": "50 ms", "money.prices": "lambda-2026-08",
    },
  },
  ...EXAMPLES,
];

function isFleet(state) {
  return state.get("kind") === "serve" && [...state.keys()].some((key) => key.startsWith("traffic"));
}

/** The question that this state asks; undefined where its kind is none of them. */
export const questionOf = (state) => QUESTIONS.find((question) => question.is(state));

/** Every key that some form shows: what of it a change of the question keeps, the rest being of that question alone. */
export function carriedOver(state, to) {
  if (to.examples) return new Map(Object.entries(to.examples[0].start));
  const shown = new Set(to.groups.flatMap((group) => group.fields.map((field) => field.key)));
  const made = new Map(Object.entries(to.start));
  for (const key of ["model", "hardware.gpu", "hardware.node", "serving.isl", "serving.osl", "serving.engine", "serving.weights",
                     "serving.kv_cache", "money.prices", "money.price"]) {
    if (shown.has(key) && state.has(key)) made.set(key, state.get(key));
  }
  if (state.has("money.price") && !state.has("money.prices")) made.delete("money.prices");
  return made;
}

/** What stands beside the answer as a curve: another verb, or the same question with an axis freed; null: nothing does. */
export function curveOf(question, state) {
  if (question?.id === "train" && state.get("hardware.gpus")) {
    return {title: "More or fewer GPUs", verb: "scale", states: [state]};
  }
  if (question?.id === "load") {
    const freed = new Map(state);
    freed.delete("serving.concurrency");
    for (const key of freed.keys()) {
      if (key.startsWith("search.")) return null;
    }
    freed.set("search.concurrency", "1..1024 x2");
    return {title: "Fewer or more requests in flight", verb: "plan", states: [freed]};
  }
  const rate = Number.parseFloat(state.get("traffic.rate"));
  if (question?.id === "fleet" && rate > 0 && !state.has("fleet.replicas")) {
    const rates = [0.25, 0.5, 1, 2, 4].map((factor) => Number((rate * factor).toPrecision(3)));
    return {title: "Fewer or more requests per second", verb: "plan", rates, states: rates.map((other) =>
        new Map([["traffic.requests", "3000"], ...state, ["traffic.rate", `${other} req/s`]]))};
  }
  return null;
}
