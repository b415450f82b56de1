// Numbers as people read them: three significant digits and a unit. The exact numbers stand in the JSON document.

const NARROW = "\u202f";  // between groups of three digits

/** Three significant digits, digits before the point in groups of three: 16.8, 498 000, 0.0215. */
export function digits(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e15 || size < 1e-6) return value.toExponential(2);
  const rounded = Number(value.toPrecision(3));
  const places = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(rounded))));
  const [whole, part] = Math.abs(rounded).toFixed(Math.min(places, 8)).split(".");
  const grouped = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, NARROW) : whole;
  return (value < 0 ? "−" : "") + grouped + (part === undefined ? "" : "." + part);
}

// [least value, factor, name]; the first whose least value is reached is taken.
const SCALES = {
  s: [[172800, 86400, "days"], [7200, 3600, "h"], [120, 60, "min"], [1, 1, "s"], [1e-3, 1e-3, "ms"], [0, 1e-6, "µs"]],
  B: [[2 ** 50, 2 ** 50, "PiB"], [2 ** 40, 2 ** 40, "TiB"], [2 ** 30, 2 ** 30, "GiB"], [2 ** 20, 2 ** 20, "MiB"],
      [2 ** 10, 2 ** 10, "KiB"], [0, 1, "B"]],
  $: [[1e9, 1e9, "G$"], [1e6, 1e6, "M$"], [1e5, 1e3, "k$"], [0, 1, "$"]],
  J: [[3.6e12, 3.6e12, "GWh"], [3.6e9, 3.6e9, "MWh"], [3.6e6, 3.6e6, "kWh"], [3600, 3600, "Wh"], [0, 1, "J"]],
  W: [[1e6, 1e6, "MW"], [1e3, 1e3, "kW"], [0, 1, "W"]],
  "FLOP/s": [[1e18, 1e18, "EFLOP/s"], [1e15, 1e15, "PFLOP/s"], [1e12, 1e12, "TFLOP/s"], [0, 1e9, "GFLOP/s"]],
  FLOP: [[1e21, 1e21, "ZFLOP"], [1e18, 1e18, "EFLOP"], [1e15, 1e15, "PFLOP"], [1e12, 1e12, "TFLOP"], [0, 1e9, "GFLOP"]],
  "tokens/s": [[1e6, 1e6, "M tokens/s"], [0, 1, "tokens/s"]],
  "tokens": [[1e12, 1e12, "T tokens"], [1e9, 1e9, "G tokens"], [1e6, 1e6, "M tokens"], [0, 1, "tokens"]],
  "GPU-h": [[1e6, 1e6, "M GPU-h"], [0, 1, "GPU-h"]],
  "%": [[0, 0.01, "%"]],
  "$/h": [[0, 1 / 3600, "$/h"]],
};

/** [factor, name] of the unit that `unit` is told in, for a number of this size. */
export function scaleFor(value, unit) {
  const steps = SCALES[unit];
  if (!steps) return [1, unit];
  const size = Math.abs(value);
  const [, factor, name] = steps.find(([least]) => size >= least) ?? steps[steps.length - 1];
  return [factor, name];
}

/** "16.8" and "s": a number in its SI unit (or "%", "$/h", which is told of dollars a second). A count is whole. */
export function parts(value, unit) {
  if (unit === "" && Number.isInteger(value)) return [whole(value), ""];
  const [factor, name] = scaleFor(value, unit);
  return [digits(value / factor), name];
}

/** "16.8 s". */
export function quantity(value, unit) {
  const [number, name] = parts(value, unit);
  return number + (name ? "\u00a0" + name : "");
}

const whole = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, value >= 10000 ? NARROW : "");

/** A tick of an axis: no digit more than it needs. */
export const tick = (value) => (Math.abs(value) >= 10000 ? digits(value) : String(Number(value.toPrecision(3))));

/** A probability or a share: near its ends by what it is surely beyond. */
export const chance = (p) => (p > 0.999 ? "above 99.9\u00a0%" : p < 0.001 ? "below 0.1\u00a0%" : quantity(p, "%"));

/** "15.5 to 18.3 s": both ends in the unit of the middle. */
export function interval(number, unit) {
  if (unit === "" && [number.low, number.high].every(Number.isInteger)) return `${whole(number.low)} to ${whole(number.high)}`;
  const [factor, name] = scaleFor(number.mid, unit);
  return `${digits(number.low / factor)} to ${digits(number.high / factor)}${name ? "\u00a0" + name : ""}`;
}

/** Whether this is a number with an interval that says more than its middle. */
export const hasInterval = (number) => typeof number === "object" && number !== null && number.low !== number.high;
export const middle = (number) => (typeof number === "object" && number !== null ? number.mid : number);

/** "tp_comm" -> "tensor-parallel communication": terms that are no words by themselves. */
const TERMS = {
  gemm: "matrix products", tp_comm: "tensor-parallel exchange", pp_comm: "pipeline sends", dp_comm: "data-parallel exchange",
  cp_comm: "context exchange", ep_comm: "expert exchange", head: "language head", host: "host launches",
  straggler: "waiting for the slowest", bubble: "pipeline bubble", optimizer: "optimizer", kv_cache: "KV cache",
  cuda_graphs: "CUDA graphs", matrix_rate: "matrix rate", memory_bandwidth: "memory bandwidth",
  memory_capacity: "memory capacity", scale_up_rate: "NVLink / scale-up rate", nic_rate: "network rate",
};
export const words = (term) => TERMS[term] ?? term.replace(/_/g, " ");
