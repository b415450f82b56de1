// Questions of scenarios/ and tests/questions as requests, with the command that asks the same of the command line.
import {existsSync, readFileSync, readdirSync} from "node:fs";
import {join} from "node:path";

/** The words of a TOML list of texts over several lines: `command = ["plan", "--model", ...]`. */
function commandOf(text) {
  const list = /^command = \[([\s\S]*?)\]\n\w/m.exec(text + "\nx")?.[1] ?? /^command = \[(.*)\]$/m.exec(text)?.[1];
  return list === undefined ? null : [...list.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word]) => JSON.parse(`"${word}"`));
}

const NAMES = new Set(["model", "hardware.gpu", "hardware.node"]);  // names, also where they are digits: 4090
const TEXTS = new Set(["text", "choice", "quantity", "percentage", "month", "date", "deadline"]);
const typed = (text, row) => TEXTS.has(row?.type) ? text
    : text === "true" || text === "false" ? text === "true"
    : /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : text;

/**
 * A command as {verb, request}, or null where a request has no word for what it says: files beside the scenario, pages,
 * assignments whose values are TOML. `keys`: rows of the verb `keys`, which name the options.
 */
export function requestOf(command, keys, root) {
  const verb = command[0];
  if (!["plan", "scale", "simulate"].includes(verb)) return null;
  const request = {};
  const set = {};
  let quick = false;
  for (let i = 1; i < command.length; ++i) {
    const word = command[i];
    if (!word.startsWith("--")) {
      if (request.scenario !== undefined || !existsSync(join(root, word))) return null;
      request.scenario = readFileSync(join(root, word), "utf8");
      if (/^base = /m.test(request.scenario)) return null;
      continue;
    }
    const value = command[++i];
    if (word === "--set") {
      const at = value.indexOf("=");
      if (/[[{"]/.test(value)) return null;
      const key = value.slice(0, at);
      set[key] = NAMES.has(key) ? value.slice(at + 1) : typed(value.slice(at + 1), keys.find((one) => one.path === key));
      continue;
    }
    const row = keys.find((one) => one.option === word);
    if (!row || /\.\.|,/.test(value)) return null;
    quick = true;
    if (row.path === "model" && value.endsWith(".json")) return null;  // a file: requests have what it holds
    set[row.path] = NAMES.has(row.path) ? value : typed(value, row);
  }
  if (request.scenario === undefined) {
    if (!quick) return null;
    const serves = ["serving.isl", "serving.osl", "serving.concurrency", "traffic.rate"].some((key) => key in set);
    request.scenario = {kind: serves ? "serve" : "train"};
    // What the quick form of the command line adds by itself.
    if (!serves && !("kind" in set)) request.scenario.training = {precision: "bf16"};
  }
  if (Object.keys(set).length > 0) request.set = set;
  return {verb, request};
}

function filesBelow(folder, ending) {
  return readdirSync(folder, {withFileTypes: true}).flatMap((entry) =>
      entry.isDirectory() ? filesBelow(join(folder, entry.name), ending) : entry.name.endsWith(ending) ? [join(folder, entry.name)] : []).sort();
}

/** [{name, command, verb, request}]: of tests/questions what is one request, and scenarios that name no other file. */
export function allQuestions(root, keys) {
  const found = [];
  for (const file of filesBelow(join(root, "tests/questions"), ".toml")) {
    const command = commandOf(readFileSync(file, "utf8"));
    const asked = command && requestOf(command, keys, root);
    if (asked) found.push({name: file.slice(root.length + 1), command, ...asked});
  }
  for (const folder of ["train", "serve", "batch", "classic", "sharing", "post_train"]) {
    for (const file of filesBelow(join(root, "scenarios", folder), ".toml")) {
      const text = readFileSync(file, "utf8");
      if (!/^kind = /m.test(text) || /^base = |\.csv"|\.json"|\.toml"/m.test(text)) continue;
      const name = file.slice(root.length + 1);
      found.push({name, command: ["plan", name], verb: "plan", request: {scenario: text}});
    }
  }
  return found;
}

/** An answer without what names the question: the lines that are to be the same. */
export const comparable = (text) => text.split("\n").filter((line) => !/^\s*"name": /.test(line)).join("\n");
