// The engine's table of keys: what each key of a scenario takes and means. The page knows no key by heart but the few
// that its forms show in front.
import {digits} from "./format.js";
import {pathOf, valueOf} from "./state.js";

/** rows: of the verb `keys`, [{path, type, kinds: [word], choices, low, high, example, default, meaning, ...}]. */
export class Keys {
  constructor(rows) {
    this.rows = rows;
    this.byPath = new Map();
    for (const row of rows) {
      const list = this.byPath.get(row.path);
      if (list) list.push(row);
      else this.byPath.set(row.path, [row]);
    }
  }

  /** The row of a key for questions of this word of `kind`; undefined where there is none. */
  find(path, kind) {
    const rows = this.byPath.get(path) ?? this.byPath.get(pathOf(path)) ?? [];
    return rows.find((row) => !kind || !row.kinds || row.kinds.includes(kind)) ?? rows[0];
  }

  typeOf(path, kind) {
    return this.find(path, kind)?.type;
  }

  /** Keys that a question of this kind may state, without tables, in the order of the manual. */
  ofKind(kind) {
    const seen = new Set();
    return this.rows.filter((row) => {
      if (TABLES.has(row.type) || seen.has(row.path) || (kind && row.kinds && !row.kinds.includes(kind))) return false;
      seen.add(row.path);
      return true;
    });
  }

  /** The paths of lists of tables of this kind, such as "tenant" or "job.on". */
  listsOf(kind) {
    return this.rows.filter((row) => row.type === "tables" && (!kind || !row.kinds || row.kinds.includes(kind))).map((row) => row.path);
  }

  /** A path as a key of the address: where it leads through a list, into that list's last entry that is stated, or its
   *  first. */
  counted(path, kind, state) {
    let key = path;
    for (const list of this.listsOf(kind).sort((a, b) => a.length - b.length)) {
      if (!path.startsWith(list + ".")) continue;
      const before = key.slice(0, key.length - (path.length - list.length));
      const counts = [...state.keys()].filter((one) => one.startsWith(before + ".")).map((one) => Number.parseInt(one.slice(before.length + 1), 10));
      key = `${before}.${Math.max(1, ...counts.filter((count) => count > 0))}${path.slice(list.length)}`;
    }
    return key;
  }
}
const TABLES = new Set(["table", "tables"]);

/** What a key means and what its absence stands for. */
export function meaningOf(row) {
  if (!row) return "";
  const blank = row.required ? "It is required." : row.default ?? "";
  return [row.meaning, blank, row.caution].filter(Boolean).join(" ");
}

/** What a box may hold, in words: "integer, 1 to 1 000 000". */
export function boundsText(row) {
  if (!row) return "";
  if (row.choices?.length) return row.choices.length > 12 ? `one of ${row.choices.length} words` : row.choices.join(" | ");
  const ends = [];
  if (typeof row.low === "number") ends.push(`${row.above_low ? "above" : "from"} ${digits(row.low)}`);
  if (typeof row.high === "number") ends.push(`to ${digits(row.high)}`);
  if (row.type === "quantity" || row.type === "quantity_axis") ends.length = 0;  // bounds are in SI, texts are not
  const type = {quantity: "a number with its unit", text: "text", boolean: "true | false"}[row.type] ?? row.type?.replace(/_/g, " ");
  return [type + (row.example ? `, such as “${row.example}”` : ""), ends.join(" ")].filter(Boolean).join(", ");
}

/** What is plainly wrong with a text before anyone is asked; "" where nothing is. The engine has the last word. */
export function wrongWith(row, text) {
  if (!row || text === "") return "";
  const value = valueOf(text, row.type);
  if (typeof value !== "number" || row.type === "quantity") return "";
  if (typeof row.low === "number" && value < row.low) return `at least ${row.low}`;
  if (typeof row.high === "number" && value > row.high) return `at most ${row.high}`;
  return "";
}
