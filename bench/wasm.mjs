// WebAssembly against the native library on twenty questions, one thread each: processor time of the fastest of the
// answers of some seconds, which an engine for JavaScript needs to translate what runs often. Questions of more than a second are left out.
// The exit code is 1 where the median question takes more than three times as long.
//   node bench/wasm.mjs build/wasm/npm build/release/bench/wire_bench [SECONDS]
import {spawnSync} from "node:child_process";
import {dirname, resolve} from "node:path";
import {fileURLToPath, pathToFileURL} from "node:url";
import {allQuestions} from "../tests/web/questions.mjs";

const [module, program, seconds = "1"] = process.argv.slice(2);
const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const start = performance.now();
const headroom = await import(pathToFileURL(resolve(module, "index.mjs")).href);
console.log(`the module is loaded after ${(performance.now() - start).toFixed(0)} ms`);
const first = performance.now();
headroom.plan({kind: "train", model: "llama3-70b", hardware: {gpu: "h100-sxm-80gb", gpus: 512},
               training: {seq_len: 8192, global_batch: 1024, precision: "bf16"}, strategy: {tp: 8, pp: 4}});
console.log(`its first answer takes ${(performance.now() - first).toFixed(0)} ms`);

const asked = ({verb, request}) => {
  const begin = process.cpuUsage();
  const text = headroom.replyText(verb, request);
  const {user, system} = process.cpuUsage(begin);
  return /"schema": "headroom.error/.test(text) ? Infinity : (user + system) / 1000;
};
// Every question that a request can ask and that is answered within a second, thinned out to twenty.
const all = allQuestions(root, headroom.keys().keys).filter((one) => !/prefixes|day|session|turns/.test(one.name) && asked(one) < 1000);
const questions = Array.from({length: Math.min(20, all.length)}, (_, i) => all[Math.floor(i * all.length / 20)]);
const ours = questions.map((question) => {
  let best = Infinity;
  const begin = performance.now();
  for (let i = 0; i < 3 || performance.now() - begin < 1000 * Number(seconds); ++i) best = Math.min(best, asked(question));
  return best;
});
const run = spawnSync(program, [seconds], {encoding: "utf8",
    input: questions.map(({verb, request}) => `${verb}\t${JSON.stringify(request)}\n`).join("")});
const theirs = run.stdout.trim().split("\n").map(Number);
const ratios = questions.map((_, i) => ours[i] / theirs[i]);
questions.forEach(({name}, i) => console.log(
    `${ours[i].toFixed(2).padStart(9)} ms  native ${theirs[i].toFixed(2).padStart(9)} ms  ${ratios[i].toFixed(2).padStart(5)} x  ${name}`));
const sorted = ratios.filter(Number.isFinite).sort((a, b) => a - b);
const median = sorted[Math.floor(sorted.length / 2)];
console.log(`median ${median.toFixed(2)} x, largest ${sorted.at(-1).toFixed(2)} x`);
process.exit(median <= 3 ? 0 : 1);
