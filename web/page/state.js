// What is asked, as one map from a key of the scenario ("strategy.tp") to the text that somebody typed. It stands in the
// address behind the "#", so that a link holds the whole question and the back button goes to the one before.

/** Text of the address -> Map. Unknown keys stay: the engine says what is wrong with them. */
export function readHash(hash) {
  const state = new Map();
  for (const [key, value] of new URLSearchParams(hash.replace(/^#/, ""))) {
    if (key && value !== "") state.set(key, value);
  }
  return state;
}

/** Map -> text of the address, readable: blanks as "+", slashes, colons and commas as they are. */
export function writeHash(state) {
  const pairs = [];
  for (const [key, value] of state) {
    const text = encodeURIComponent(value).replace(/%20/g, "+").replace(/%2F/g, "/").replace(/%3A/g, ":").replace(/%2C/g, ",");
    pairs.push(`${encodeURIComponent(key)}=${text}`);
  }
  return "#" + pairs.join("&");
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/** A single value: what reads as a number or a truth is one, where the key may be one. */
function scalar(text, type) {
  const trimmed = text.trim();
  if (TEXTS.has(type)) return trimmed;
  if (NUMBER.test(trimmed)) return Number(trimmed);
  if (trimmed === "true" || trimmed === "false") return trimmed === "true";
  return trimmed;
}

const TEXTS = new Set(["text", "choice", "quantity", "percentage", "month", "date", "deadline", "texts", "text_axis", "quantity_axis"]);
const isList = (type) => type === "integers" || type === "texts" || /_axis$/.test(type ?? "");

/** The JSON value that a text of this type of key stands for; a text that opens a bracket is JSON already. */
export function valueOf(text, type) {
  const trimmed = text.trim();
  if (/^[[{]/.test(trimmed)) {
    try {
      return JSON.parse(trimmed);
    } catch {
      return trimmed;  // the engine tells what it cannot read
    }
  }
  if (isList(type) && trimmed.includes(",")) return trimmed.split(",").map((item) => scalar(item, type));
  if (isList(type) && type !== "texts" && !NUMBER.test(trimmed)) return trimmed;  // "1..8 x2", "any"
  if (isList(type)) return [scalar(trimmed, type)];
  return scalar(trimmed, type);
}

const COUNT = /^\d+$/;

/** The key of the table of keys that a key of the address stands for: "tenant.2.rate" is "tenant.rate". */
export const pathOf = (key) => key.split(".").filter((step) => !COUNT.test(step)).join(".");

/** Tables whose keys are counts are lists; one that was taken out leaves no gap. */
function withLists(value) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, withLists(item)]);
  if (entries.length === 0 || !entries.every(([key]) => COUNT.test(key))) return Object.fromEntries(entries);
  return entries.sort((a, b) => a[0] - b[0]).map(([, item]) => item);
}

/** The scenario as JSON: the tables of the TOML document as objects, "tenant.2.rate" as the second of a list.
 *  `typeOf` gives a key's type. */
export function scenarioOf(state, typeOf) {
  const scenario = {schema: 1};
  for (const [key, text] of state) {
    const steps = key.split(".");
    const last = steps.pop();
    let table = scenario;
    for (const step of steps) {
      if (typeof table[step] !== "object" || table[step] === null) table[step] = {};
      table = table[step];
    }
    table[last] = valueOf(text, typeOf(pathOf(key)));
  }
  return withLists(scenario);
}

/** An assignment of an answer, "strategy.recompute = \"full\"" or "strategy.tp=4", as [key, text]. */
export function assignmentOf(text) {
  const at = text.indexOf("=");
  if (at < 0) return null;
  const key = text.slice(0, at).trim();
  const value = text.slice(at + 1).trim().replace(/^"(.*)"$/, "$1");
  return /^[a-z_][\w.]*$/.test(key) && value ? [key, value] : null;
}

/** The same question for the command line, as one would type it there. `typeOf` as above. */
export function commandOf(verb, state, typeOf = () => undefined) {
  const quoted = (text) => (/^[\w.=:/+-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`);
  const parts = [];
  const lists = new Set();
  for (const [key, value] of state) {
    const counted = key.split(".").findIndex((step) => COUNT.test(step));
    if (counted > 0) {
      const list = key.split(".").slice(0, counted).join(".");
      if (lists.has(list)) continue;
      lists.add(list);
      const whole = scenarioOf(new Map([...state].filter(([other]) => other.startsWith(list + "."))), typeOf);
      parts.push(`--set ${quoted(`${list}=${tomlOf(list.split(".").reduce((table, step) => table[step], whole))}`)}`);
      continue;
    }
    const json = /^[[{]/.test(value) ? valueOf(value) : undefined;
    parts.push(`--set ${quoted(`${key}=${json === undefined ? value : tomlOf(json)}`)}`);
  }
  return `headroom ${verb === "search" ? "plan" : verb} ${parts.join(" ")}`;
}

function tomlOf(value) {
  if (Array.isArray(value)) return `[${value.map(tomlOf).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    return `{${Object.entries(value).map(([key, item]) => `${key} = ${tomlOf(item)}`).join(", ")}}`;
  }
  return JSON.stringify(value);
}
