// The engine as WebAssembly against the command line: the same JSON to the last digit.
//   node equal_test.mjs SOURCE MODULE PROGRAM [LEAST]
import {spawnSync} from "node:child_process";
import {join} from "node:path";
import {pathToFileURL} from "node:url";
import {allQuestions, comparable} from "./questions.mjs";

const [root, module, program, least = "30"] = process.argv.slice(2);
const headroom = await import(pathToFileURL(join(module, "index.mjs")).href);
const questions = allQuestions(root, headroom.keys().keys);
let equal = 0;
const other = [];
for (const {name, command, verb, request} of questions) {
  const run = spawnSync(program, [...command, "--format", "json", "--threads", "1"].filter((word, i, all) =>
      !(command[0] !== "plan" && (word === "--threads" || all[i - 1] === "--threads"))), {cwd: root, encoding: "utf8", maxBuffer: 1 << 28});
  const ours = comparable(headroom.replyText(verb, request));
  const theirs = comparable(run.stdout);
  if (ours === theirs) {
    ++equal;
    continue;
  }
  const [a, b] = [ours.split("\n"), theirs.split("\n")];
  const lines = a.map((line, i) => [line, b[i]]).filter(([x, y]) => x !== y);
  other.push(`${name}: ${lines.length} of ${a.length} lines differ\n${lines.slice(0, Number(process.env.HEADROOM_LINES ?? 4)).map(([x, y]) => `  wasm   ${x}\n  native ${y}`).join("\n")}`);
}
console.log(`${equal} of ${questions.length} questions have the same JSON`);
if (other.length > 0) console.log(other.join("\n"));
process.exit(other.length === 0 && equal >= Number(least) ? 0 : 1);
