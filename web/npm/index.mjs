// The library in Node.js: the same C++ as the command line, as WebAssembly. Nothing is asked of a network.
import {readFileSync} from "node:fs";
import {createRequire} from "node:module";

const createEngine = createRequire(import.meta.url)("./engine.cjs");
const engine = await createEngine({wasmBinary: readFileSync(new URL("./headroom.wasm", import.meta.url))});

/** A request may be longer than the stack, where ccall would put it. */
function ask(verb, request) {
  const bytes = Buffer.from(request + "\0", "utf8");
  const at = engine._malloc(bytes.length);
  engine.HEAPU8.set(bytes, at);
  try {
    return engine.ccall("headroom_reply", "string", ["string", "number"], [verb, at]);
  } finally {
    engine._free(at);
  }
}

/** A question that cannot be answered; `problems` holds everything that is wrong with it, each with its place. */
export class HeadroomError extends Error {
  constructor(document) {
    super(document.errors.map(({file, member, line, message}) =>
        [member ?? file, line].filter((part) => part !== undefined && part !== "").join(":") + (file || member ? ": " : "") + message).join("\n"));
    this.name = "HeadroomError";
    this.problems = document.errors;
    this.document = document;
  }
}

/** The answer's text, as the command line prints it. */
export function replyText(verb, request = {}) {
  return ask(verb, JSON.stringify(request));
}

/** The answer's document; HeadroomError where there is none. */
export function reply(verb, request = {}) {
  const document = JSON.parse(replyText(verb, request));
  if (document.schema === "headroom.error/1") throw new HeadroomError(document);
  return document;
}

const asking = (verb) => (scenario, options = {}) => reply(verb, {scenario, ...options});
export const plan = asking("plan");
export const explain = asking("explain");
export const search = asking("search");
export const simulate = asking("simulate");
export const scale = asking("scale");
export const compare = (scenarios, options = {}) => reply("compare", {scenarios, ...options});

/** A config.json of Hugging Face, its object or its text, as a table for a scenario's `model`. */
export const importConfig = (config) => reply("import", {config});
export const catalog = (kind) => reply("catalog", kind === undefined ? {} : {kind});
export const keys = () => reply("keys");
