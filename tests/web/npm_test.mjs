// The module as somebody uses it: installed from its folder, imported by its name, no registry asked.
//   node npm_test.mjs MODULE SCRATCH
import assert from "node:assert/strict";
import {spawnSync} from "node:child_process";
import {existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync} from "node:fs";
import {join} from "node:path";

const [module, scratch] = process.argv.slice(2);
rmSync(scratch, {recursive: true, force: true});
mkdirSync(join(scratch, "node_modules", "headroom"), {recursive: true});
const described = JSON.parse(readFileSync(join(module, "package.json"), "utf8"));
for (const file of described.files) {
  assert(existsSync(join(module, file)), `${file} is packed`);
  writeFileSync(join(scratch, "node_modules", "headroom", file), readFileSync(join(module, file)));
}
writeFileSync(join(scratch, "node_modules", "headroom", "package.json"), JSON.stringify(described));
assert.deepEqual(readdirSync(module).sort(), [...described.files, "package.json"].sort());

writeFileSync(join(scratch, "use.mjs"), `
import assert from "node:assert/strict";
import {HeadroomError, catalog, importConfig, keys, plan, scale} from "headroom";
const scenario = {kind: "train", model: "llama3-70b", hardware: {gpu: "h100-sxm-80gb", gpus: 512},
                  training: {seq_len: 8192, global_batch: 1024, precision: "bf16"}, strategy: {tp: 8, pp: 4}};
const answer = plan(scenario);
assert.equal(answer.verdict, "feasible");
// 1024 sequences of 8192 tokens in a step.
assert(Math.abs(answer.tokens_per_s.mid * answer.step_time_s.mid / (1024 * 8192) - 1) < 1e-9);
assert(answer.step_time_s.low < answer.step_time_s.mid && answer.step_time_s.mid < answer.step_time_s.high);
assert(scale(scenario).points.length > 3);
assert(keys().keys.some((row) => row.path === "strategy.tp"));
assert(catalog("gpus").gpus.some((gpu) => gpu.id === "h100-sxm-80gb"));
assert.throws(() => plan({...scenario, strategy: {tp: "eight"}, training: {}}), (error) => {
  assert(error instanceof HeadroomError);
  assert(error.problems.length >= 2 && /tp/.test(error.message), error.message);
  return true;
});
assert.throws(() => importConfig("{"), HeadroomError);
assert.equal(plan(scenario, {set: {"strategy.tp": 4}}).strategy.tp, 4);
console.log("the module answers");
`);
const run = spawnSync(process.execPath, [join(scratch, "use.mjs")], {encoding: "utf8"});
assert.equal(run.status, 0, run.stderr + run.stdout);
const types = readFileSync(join(module, "index.d.ts"), "utf8");
assert(/seq_len\?: /.test(types) && /zero\?: /.test(types) && !/@KEYS@/.test(types), "types are written from the keys");
console.log(run.stdout.trim());
