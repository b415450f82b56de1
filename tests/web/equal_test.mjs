// The engine as WebAssembly against the command line, to the last digit.
//   node equal_test.mjs SOURCE MODULE PROGRAM [LEAST]
//
// Both are the same C++ with the same exp, log and the like (core/elementary), whose bits depend on no C library and on
// no fused multiply-adds: the program answers once more with glibc's functions for processors without them.
import {spawnSync} from "node:child_process";
import {pathToFileURL} from "node:url";
import {allQuestions, comparable} from "./questions.mjs";

const [root, module, program, least = "30"] = process.argv.slice(2);

const asked = (command, environment = {}) => spawnSync(program, [...command, "--format", "json"],
    {cwd: root, encoding: "utf8", maxBuffer: 1 << 28, env: {...process.env, ...environment}});

/** The lines in which two texts differ. */
function differences(ours, theirs) {
  const [a, b] = [ours.split("\n"), theirs.split("\n")];
  return Array.from({length: Math.max(a.length, b.length)}, (_, i) => [a[i] ?? "", b[i] ?? ""]).filter(([x, y]) => x !== y);
}

const headroom = await import(pathToFileURL(module + "/index.mjs").href);
const questions = allQuestions(root, headroom.keys().keys).filter(({name}) => name.includes(process.env.HEADROOM_CHECK ?? ""));
const plain = {GLIBC_TUNABLES: "glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2"};
let answered = 0, same = 0;
const wrong = [];
const told = (name, whose, lines) => lines.length > 0 && wrong.push(
    `${name}: ${lines.length} lines differ ${whose}\n` + lines.slice(0, 3).map(([x, y]) => `  here   ${x}\n  native ${y}`).join("\n"));
for (const {name, command, verb, request} of questions) {
  const run = asked(command);
  // Where a problem stands is told otherwise of a command than of a request.
  if (run.status > 1 || /"schema": "headroom.error/.test(run.stdout)) continue;
  ++answered;
  const native = comparable(run.stdout);
  const lines = differences(comparable(headroom.replyText(verb, request)), native);
  same += lines.length === 0 ? 1 : 0;
  told(name, "in WebAssembly", lines);
  told(name, "on a processor without fused multiply-adds", differences(comparable(asked(command, plain).stdout), native));
}
console.log(`${same} of ${answered} questions have the same JSON to the last digit as the command line's`);
if (wrong.length > 0) console.log(wrong.join("\n"));
process.exit(wrong.length === 0 && answered >= Number(least) ? 0 : 1);
