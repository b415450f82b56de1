// The engine as WebAssembly against the command line.
//   node equal_test.mjs SOURCE MODULE PROGRAM SCRATCH [LEAST]
//
// Both are the same C++, but their C libraries round exp, log, pow, cbrt and the like differently in the last digit, and
// glibc by the processor. Twice, therefore: with the program on the C library of Emscripten, compiled for this machine
// from Emscripten's own files, the JSON is the same to the last digit; with the program as it is, every word is the same
// and every number within 1e-11 of it.
import {spawnSync} from "node:child_process";
import {existsSync, mkdirSync} from "node:fs";
import {join} from "node:path";
import {pathToFileURL} from "node:url";
import {allQuestions, comparable} from "./questions.mjs";

const [root, module, program, scratch, least = "30"] = process.argv.slice(2);
const CLOSE = 1e-11;

// hypot is not among them: web/wasm/hypotenuse.cpp rounds it as glibc does.
const FUNCTIONS = ("cbrt log1p expm1 log10 tgamma lgamma_r lgamma erf sin __sin __cos __rem_pio2 __rem_pio2_large exp exp_data exp2 " +
    "log log_data log2 log2_data pow pow_data __math_divzero __math_invalid __math_oflow __math_uflow __math_xflow floor scalbn " +
    "signgam").split(" ");

/** Emscripten's functions as a library for this machine; null where they cannot be compiled. */
function functionsOfEmscripten() {
  const folder = ["/usr/share/emscripten", process.env.EMSDK && join(process.env.EMSDK, "upstream/emscripten")].find((one) => one && existsSync(one));
  if (!folder) return null;
  const musl = join(folder, "system/lib/libc/musl");
  mkdirSync(scratch, {recursive: true});
  const library = join(scratch, "libfunctions.so");
  const headers = ["src/include", "src/internal", "arch/emscripten", "arch/generic", "include"].map((one) => "-I" + join(musl, one));
  headers.splice(2, 0, "-I" + join(folder, "cache/sysroot/include"));
  const run = spawnSync("cc", ["-shared", "-O2", "-std=gnu99", "-fPIC", "-ffp-contract=off", "-fno-builtin", "-w", "-nostdinc", ...headers,
    ...FUNCTIONS.map((one) => join(musl, "src/math", one + ".c")), "-o", library], {encoding: "utf8"});
  return run.status === 0 ? library : (console.log(run.stderr), null);
}

const asked = (command, environment = {}) => spawnSync(program, [...command, "--format", "json"],
    {cwd: root, encoding: "utf8", maxBuffer: 1 << 28, env: {...process.env, ...environment}});

/** The lines in which two texts differ. */
function differences(ours, theirs) {
  const [a, b] = [ours.split("\n"), theirs.split("\n")];
  return Array.from({length: Math.max(a.length, b.length)}, (_, i) => [a[i] ?? "", b[i] ?? ""]).filter(([x, y]) => x !== y);
}

const NUMBER = /-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi;
/** Of two lines with the same words the largest difference of their numbers, in the larger of each pair; else Infinity. */
function apart([ours, theirs]) {
  if (ours.replace(NUMBER, "#") !== theirs.replace(NUMBER, "#")) return Infinity;
  const [a, b] = [ours.match(NUMBER) ?? [], theirs.match(NUMBER) ?? []];
  return Math.max(0, ...a.map((x, i) => {
    const most = Math.max(Math.abs(x), Math.abs(b[i]));
    return most < 1e-12 ? 0 : Math.abs(x - b[i]) / most;  // differences of numbers that are all but equal
  }));
}

const headroom = await import(pathToFileURL(module + "/index.mjs").href);
const questions = allQuestions(root, headroom.keys().keys).filter(({name}) => name.includes(process.env.HEADROOM_CHECK ?? ""));
const functions = functionsOfEmscripten();
let answered = 0, same = 0, sameAsItIs = 0;
let farthest = 0;
const wrong = [];
const few = (lines) => lines.slice(0, 3).map(([x, y]) => `  wasm   ${x}\n  native ${y}`).join("\n");
for (const {name, command, verb, request} of questions) {
  const run = asked(command);
  // Where a problem stands is told otherwise of a command than of a request.
  if (run.status > 1 || /"schema": "headroom.error/.test(run.stdout)) continue;
  ++answered;
  const ours = comparable(headroom.replyText(verb, request));
  if (functions) {
    const lines = differences(ours, comparable(asked(command, {LD_PRELOAD: functions}).stdout));
    same += lines.length === 0 ? 1 : 0;
    if (lines.length > 0) wrong.push(`${name}: ${lines.length} lines differ on the same C library\n${few(lines)}`);
  }
  const lines = differences(ours, comparable(run.stdout));
  sameAsItIs += lines.length === 0 ? 1 : 0;
  const far = Math.max(0, ...lines.map(apart));
  farthest = Math.max(farthest, far === Infinity ? 0 : far);
  if (far > CLOSE) wrong.push(`${name}: ${far} apart\n${few(lines.filter((line) => apart(line) > CLOSE))}`);
}
console.log(functions ? `${same} of ${answered} questions have the same JSON to the last digit on the same C library`
                      : "Emscripten's C library cannot be compiled here: no last digits were compared");
console.log(`${sameAsItIs} of ${answered} have it with the program as it is; elsewhere numbers differ by ${farthest.toExponential(1)} at the most`);
if (wrong.length > 0) console.log(wrong.join("\n"));
process.exit(wrong.length === 0 && answered >= Number(least) ? 0 : 1);
