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

/** The scenario as JSON: the tables of the TOML document as objects. `typeOf` gives a key's type. */
export function scenarioOf(state, typeOf) {
  const scenario = {schema: 1};
  for (const [path, text] of state) {
    const steps = path.split(".");
    const last = steps.pop();
    let table = scenario;
    for (const step of steps) {
      if (typeof table[step] !== "object" || table[step] === null) table[step] = {};
      table = table[step];
    }
    table[last] = valueOf(text, typeOf(path));
  }
  return scenario;
}

/** An assignment of an answer, "strategy.recompute = \"full\"" or "strategy.tp=4", as [key, text]. */
export function assignmentOf(text) {
  const at = text.indexOf("=");
  if (at < 0) return null;
  const key = text.slice(0, at).trim();
  const value = text.slice(at + 1).trim().replace(/^"(.*)"$/, "$1");
  return /^[a-z_][\w.]*$/.test(key) && value ? [key, value] : null;
}

/** The same question for the command line, as one would type it there. */
export function commandOf(verb, state) {
  const quoted = (text) => (/^[\w.=:/+-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`);
  const parts = [];
  for (const [key, value] of state) {
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
