// The module for Node.js: the engine, a thin face over it, and types written from the engine's own table of keys.
import {cpSync, mkdirSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import {pathToFileURL} from "node:url";

/** Keys as the tree of their tables: name -> {rows of that name, below}. */
function treeOf(rows) {
  const root = new Map();
  for (const row of rows) {
    let below = root;
    let here = null;
    for (const step of row.path.split(".")) {
      if (!below.has(step)) below.set(step, {rows: [], below: new Map()});
      here = below.get(step);
      below = here.below;
    }
    here.rows.push(row);
  }
  return root;
}

const union = (words) => words.map((word) => JSON.stringify(word)).join(" | ");

function typeOfRow(row) {
  const words = row.choices?.length ? union(row.choices) : "";
  switch (row.type) {
    case "integer": return "number | string";
    case "number": return "number | string";
    case "boolean": return "boolean";
    case "choice": return words || "string";
    case "text": case "quantity": return words ? `${words} | (string & {})` : "string";
    case "percentage": case "month": case "date": case "deadline": return "string";
    case "model": return "string | Record<string, unknown>";
    case "integers": return "number[]";
    case "texts": return words ? `(${words})[]` : "string[]";
    case "integer_axis": case "number_axis": return "number | string | number[]";
    case "text_axis": case "quantity_axis": return "string | string[]";
    case "boolean_axis": return "boolean | boolean[] | string";
    case "text_map": return "Record<string, string>";
    case "count_map": return "Record<string, number>";
    default: return "Record<string, unknown>";
  }
}

function membersOf(tree, indent) {
  const pad = " ".repeat(indent);
  let text = "";
  for (const [name, {rows, below}] of tree) {
    const described = [...new Set(rows.map((row) => row.meaning).filter(Boolean))].join(" ").replace(/\*\//g, "* /");
    if (described) text += `${pad}/** ${described} */\n`;
    const own = rows.filter((row) => row.type !== "table" && row.type !== "tables").map(typeOfRow);
    const types = [...new Set(own.flatMap((one) => one.split(" | ")))];
    if (below.size > 0) {
      const body = `{\n${membersOf(below, indent + 2)}${pad}}`;
      types.push(rows.some((row) => row.type === "tables") ? `Array<${body}>` : body);
    } else if (types.length === 0) {
      types.push("Record<string, unknown>");
    }
    text += `${pad}${/^[a-z_]\w*$/i.test(name) ? name : JSON.stringify(name)}?: ${types.join(" | ")};\n`;
  }
  return text;
}

export function typesOf(rows, face) {
  return face.replace("  // @KEYS@\n", () => membersOf(treeOf(rows), 2));
}

export async function npmPackage(source, engine, to, version) {
  rmSync(to, {recursive: true, force: true});
  mkdirSync(to, {recursive: true});
  cpSync(join(engine, "headroom.js"), join(to, "engine.cjs"));
  cpSync(join(engine, "headroom.wasm"), join(to, "headroom.wasm"));
  for (const file of ["index.mjs", "README.md"]) cpSync(join(source, "npm", file), join(to, file));
  cpSync(join(source, "..", "LICENSE"), join(to, "LICENSE"));
  const described = JSON.parse(readFileSync(join(source, "npm", "package.json"), "utf8"));
  writeFileSync(join(to, "package.json"), JSON.stringify({...described, version}, null, 2) + "\n");
  const headroom = await import(pathToFileURL(join(to, "index.mjs")).href);
  const face = readFileSync(join(source, "npm", "index.d.ts"), "utf8");
  writeFileSync(join(to, "index.d.ts"), typesOf(headroom.keys().keys, face));
}
