// The page in a real browser: its numbers, its address, its keys, a phone, broken files, and no network.
//   node page_test.mjs BUILD CHROMIUM [FOLDER_OF_SCREENSHOTS]
import {writeFileSync} from "node:fs";
import {join} from "node:path";
import {pathToFileURL} from "node:url";
import {Browser, serve, sleep} from "./browser.mjs";

const [build, program, pictures] = process.argv.slice(2);
const headroom = await import(pathToFileURL(join(build, "npm", "index.mjs")).href);
const server = await serve(join(build, "web"));
const browser = new Browser(program);
let failed = 0;

const say = (good, what, detail = "") => {
  failed += good ? 0 : 1;
  console.log(`${good ? "ok" : "FAILED"}: ${what}${detail !== "" ? ` (${detail})` : ""}`);
};
const text = (selector) => `(document.querySelector(${JSON.stringify(selector)})?.textContent ?? "")`;
const answers = (n) => `Number(document.body.dataset.answered ?? 0) >= ${n}`;
const settled = "document.getElementById('verdict').className !== 'busy' && !document.body.classList.contains('asking')";
const picture = async (page, name, whole = true) => pictures && writeFileSync(join(pictures, name + ".png"), await page.screenshot(whole));
const checks = [];
const check = (name, run) => checks.push([name, run]);

const TRAIN = "#kind=train&model=llama3-70b&hardware.gpu=h100-sxm-80gb&hardware.gpus=512&training.seq_len=8192&training.global_batch=1024&training.tokens=15e12&training.precision=bf16&strategy.tp=8&strategy.pp=4&money.prices=lambda-2026-08";
const LOAD = "#kind=serve&model=llama3-70b&hardware.gpu=h100-sxm-80gb&hardware.gpus=8&serving.isl=2048&serving.osl=256&serving.concurrency=64&strategy.tp=8&money.prices=lambda-2026-08";

check("a first answer", async () => {
  const start = Date.now();
  const page = await browser.open(server.url);
  await page.until(`${answers(1)} && ${settled}`);
  say(true, "the first answer stands", `${Date.now() - start} ms after the tab was opened`);
  say(/fits/.test(await page.evaluate(text("#verdict"))), "the verdict says that it fits", await page.evaluate(text("#verdict")));
  await page.until("document.querySelectorAll('#curve svg').length >= 2", "the series of GPU counts is drawn");
  await page.until("document.querySelectorAll('#f-hardware-gpu-list option').length > 20", "the GPUs of the catalog are listed");
  await picture(page, "train-1280");
  say(page.complaints.length === 0, "the console is clean", page.complaints.join("; "));
  say(page.requests.every((url) => url.startsWith(server.url) || url.startsWith("data:")), "nobody else is asked", page.requests.filter((url) => !url.startsWith(server.url)).join(" "));
});

check("numbers", async () => {
  // What a card shows is the answer's member in three digits: its exact number stands in the element.
  const page = await browser.open(server.url + TRAIN);
  await page.until(`${answers(1)} && ${settled}`);
  const answer = headroom.plan({kind: "train", model: "llama3-70b", hardware: {gpu: "h100-sxm-80gb", gpus: 512},
    training: {seq_len: 8192, global_batch: 1024, tokens: 15e12, precision: "bf16"}, strategy: {tp: 8, pp: 4}, money: {prices: "lambda-2026-08"}});
  for (const [title, value] of [["Step", answer.step_time_s.mid], ["MFU", answer.mfu.mid], ["Cost", answer.cost_usd.mid],
                                ["Memory of a GPU", answer.memory_bytes.mid], ["The whole run", answer.duration_s.mid],
                                ["Energy", answer.energy.run_j.mid], ["Tokens per second", answer.tokens_per_s.mid]]) {
    const shown = await page.evaluate(`[...document.querySelectorAll(".card")].find((c) => c.querySelector("h3").textContent === ${JSON.stringify(title)})?.querySelector("data").value`);
    say(shown === String(value), `the card "${title}" holds ${value}`, shown);
  }
});

check("the address", async () => {
  const page = await browser.open(server.url + LOAD);
  await page.until(`${answers(1)} && ${settled}`);
  const first = await page.evaluate("location.hash");
  say(first === LOAD, "an address stays as it was opened", first);
  const verdict = await page.evaluate(text("#verdict"));
  await page.evaluate("(() => { const box = document.getElementById('f-serving-concurrency'); box.value = '128'; box.dispatchEvent(new Event('input')); box.dispatchEvent(new Event('change')); })()");
  await page.until("/concurrency=128/.test(location.hash)");
  await page.until(`document.getElementById('verdict').textContent !== ${JSON.stringify(verdict)} && ${settled}`, "the answer follows");
  await page.evaluate("history.back()");
  await page.until(`location.hash === ${JSON.stringify(LOAD)} && document.getElementById('verdict').textContent === ${JSON.stringify(verdict)}`, "the back button brings the question and its answer back");
  say(await page.evaluate("document.getElementById('f-serving-concurrency').value") === "64", "and its boxes");
  await page.until("document.querySelectorAll('#curve circle').length > 8", "the curve of the box is drawn");
  await picture(page, "load-1280");
  say(page.complaints.length === 0, "the console is clean", page.complaints.join("; "));
});

check("more of an answer", async () => {
  const page = await browser.open(server.url + LOAD);
  await page.until(`${answers(1)} && ${settled}`);
  await page.until("document.querySelectorAll('#curve circle').length > 8");
  await page.evaluate("document.querySelector('#sources details summary').click()");
  await page.until(`/decode/.test(${text("#sources details pre")})`, "every term is explained");
  // What is saved is what the command line writes with --format html.
  await page.evaluate("(() => { window.saved = null; const real = URL.createObjectURL; URL.createObjectURL = (blob) => { window.saved = blob; return real(blob); }; document.getElementById('report').click(); })()");
  await page.until(`window.saved !== null || /chart/i.test(${text("#told")})`, "the report is saved");
  const report = await page.evaluate("window.saved?.text() ?? ''");
  say(/^<!doctype html>/i.test(report) || report === "", report === "" ? "a build without Chart.js says so" : "the report is a page",
      report === "" ? await page.evaluate(text("#told")) : `${report.length} characters`);
  say(page.complaints.length === 0, "the console is clean", page.complaints.join("; "));
});

check("sliders", async () => {
  const page = await browser.open(server.url + TRAIN);
  await page.until(`${answers(1)} && ${settled}`);
  await page.until("document.querySelectorAll('#curve svg').length >= 2");
  const times = await page.evaluate(`(async () => {
    const slider = document.getElementById("f-hardware-gpus").parentElement.querySelector("input[type=range]");
    const times = [];
    for (let at = 400; at < 900; at += 50) {
      const before = Number(document.body.dataset.answered);
      const start = performance.now();
      slider.value = at;
      slider.dispatchEvent(new Event("input"));
      while (Number(document.body.dataset.answered) === before && performance.now() - start < 3000) await new Promise((done) => setTimeout(done, 2));
      times.push(performance.now() - start);
    }
    return times;
  })()`);
  const sorted = times.filter((ms) => ms < 3000).sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)];
  say(sorted.length >= 5 && median < 100, "a slider's answer stands within 100 ms", `median ${median?.toFixed(0)} ms, slowest ${sorted.at(-1)?.toFixed(0)} ms`);
  const entries = await page.evaluate("history.length");
  say(entries <= 4, "a slider that moves leaves one entry in the history", entries);
});

check("the keyboard", async () => {
  const page = await browser.open(server.url + TRAIN);
  await page.until(`${answers(1)} && ${settled}`);
  const focus = "document.activeElement.id || document.activeElement.getAttribute('aria-label') || document.activeElement.tagName";
  const seen = [];
  for (let i = 0; i < 70; ++i) {
    await page.press("Tab");
    seen.push(await page.evaluate(focus));
    if (seen.at(-1) === "all-keys-find") break;
  }
  for (const wanted of ["skip", "q-train", "f-model", "config-pick", "f-hardware-gpu", "f-hardware-gpus", "f-strategy-tp", "f-money-prices"]) {
    say(seen.includes(wanted), `Tab reaches ${wanted}`, seen.includes(wanted) ? "" : seen.join(" "));
  }
  await page.evaluate("document.getElementById('f-strategy-tp').focus()");
  await page.press("a", undefined, 2);
  await page.press("4", "4");
  await page.until("/strategy.tp=4/.test(location.hash)", "typing changes the question");
  await page.evaluate("document.getElementById('q-train').focus()");
  await page.press("ArrowRight");
  await page.until("/kind=serve/.test(location.hash) && document.activeElement.id === 'q-load'", "an arrow chooses the next question and keeps the focus");
  const unnamed = await page.evaluate(`[...document.querySelectorAll("input, select, button, summary")].filter((one) => !one.labels?.length && !one.getAttribute("aria-label") && !one.textContent.trim()).map((one) => one.outerHTML.slice(0, 80))`);
  say(unnamed.length === 0, "everything that is worked with has a name", unnamed.join(" "));
  say(await page.evaluate("document.getElementById('verdict').getAttribute('aria-live')") === "polite", "the verdict is announced");
});

check("all keys", async () => {
  const page = await browser.open(server.url + TRAIN);
  await page.until(`${answers(1)} && ${settled}`);
  const rows = headroom.keys().keys.filter((row) => row.kinds.includes("train") && row.type !== "table" && row.type !== "tables");
  await page.evaluate("document.querySelector('#all-keys summary').click()");
  await page.until("/[0-9]+ keys/.test(document.getElementById('all-keys-list').textContent)");
  const count = Number(/(\d+) keys/.exec(await page.evaluate(text("#all-keys-list")))[1]);
  const shown = await page.evaluate("document.querySelectorAll('#form fieldset .field').length");
  const paths = new Set(rows.map((row) => row.path));
  // `kind` is what the question is chosen by.
  say(count + shown + 1 === paths.size, "every key of the engine's table is there", `${count} listed, ${shown} in the form, ${paths.size} known`);
  await page.evaluate("(() => { const find = document.getElementById('all-keys-find'); find.value = 'power_cap'; find.dispatchEvent(new Event('input')); })()");
  await page.until("document.querySelector('#all-keys-list .field input') !== null");
});

check("why not", async () => {
  const page = await browser.open(server.url + TRAIN.replace("gpus=512", "gpus=32").replace("&strategy.pp=4", "") + "&strategy.micro_batch=4&strategy.recompute=none");
  await page.until(`${answers(1)} && ${settled}`);
  say(/does not fit/.test(await page.evaluate(text("#verdict"))), "what does not fit is told", await page.evaluate(text("#verdict")));
  const buttons = await page.evaluate("document.querySelectorAll('#ways button.change').length");
  say(buttons > 0, "remedies can be taken", buttons);
  await picture(page, "why-not-1280");
  await page.evaluate("document.querySelector('#ways button.change').click()");
  await page.until(`${answers(2)} && ${settled} && document.getElementById('verdict').className !== 'bad'`, "a remedy that is taken makes it fit");
  const errors = await browser.open(server.url + TRAIN.replace("tp=8", "tp=eight"));
  await errors.until(`${answers(1)} && ${settled}`);
  say(/must be an integer/.test(await errors.evaluate(text("#ways"))), "a wrong value is told as the command line tells it", await errors.evaluate(text("#ways")));
});

check("a phone", async () => {
  for (const [name, hash] of [["train", TRAIN], ["load", LOAD], ["fleet", "#kind=serve&model=llama3.1-70b&hardware.gpu=h100-sxm-80gb&strategy.tp=4&serving.isl=1024&serving.osl=256&serving.weights=fp8&serving.kv_cache=fp8&traffic.rate=12+req/s&slo.ttft_p95=1+s&slo.tpot_p95=50+ms&money.prices=lambda-2026-08"]]) {
    const page = await browser.open(server.url + hash, {width: 360, height: 740, phone: true, dark: name === "load"});
    await page.until(`${answers(1)} && ${settled}`);
    await page.until("document.querySelectorAll('#curve svg').length >= 1", `${name}: the curve is drawn`);
    await picture(page, `${name}-360-top`, false);
    await page.evaluate("document.querySelectorAll('#answer details').forEach((one) => (one.open = true))");
    const wide = await page.evaluate("document.documentElement.scrollWidth");
    say(wide <= 360, `${name}: 360 px need no scrolling sideways`, `${wide} px`);
    await picture(page, `${name}-360`);
    const desk = await browser.open(server.url + hash, {dark: name === "fleet"});
    await desk.until(`${answers(1)} && ${settled} && document.querySelectorAll('#curve svg').length >= 1`);
    await picture(desk, `${name}-desk`);
  }
});

check("other kinds", async () => {
  // Every example of the kinds whose form is made of the table of keys: asked, answered in numbers and in words.
  const first = await browser.open(server.url + TRAIN);
  await first.until(`${answers(1)} && ${settled}`);
  const examples = JSON.parse(await first.evaluate(`import("./examples.js").then(({EXAMPLES}) => JSON.stringify(EXAMPLES.flatMap((kind) =>
      kind.examples.map(({title, start}) => ({kind: kind.id, title, start})))))`));
  const kinds = new Set(headroom.keys().keys.flatMap((row) => row.kinds));
  const asked = new Set(["train", "serve", ...examples.map(({kind}) => kind)]);
  say([...kinds].every((kind) => asked.has(kind)), "every kind of the engine's table has a form", [...kinds].filter((kind) => !asked.has(kind)).join(" "));
  for (const [i, {kind, title, start}] of examples.entries()) {
    const hash = "#" + new URLSearchParams(start);
    const page = await browser.open(server.url + hash, i % 2 === 0 ? {width: 360, height: 740, phone: true} : {});
    await page.until(`${answers(1)} && ${settled}`);
    await page.until("document.querySelector('#words pre')?.textContent.length > 100", `${title}: the answer in words`);
    const [mood, cards, boxes, wide, example] = await page.evaluate(`[document.getElementById("verdict").className, document.querySelectorAll(".card").length,
        document.querySelectorAll("#form fieldset .field").length, document.documentElement.scrollWidth, document.getElementById("example").selectedOptions[0].textContent]`);
    say(mood === "good" && cards > 0 && boxes >= Object.keys(start).length - 1 && example === title && (i % 2 === 1 || wide <= 360),
        `${kind}: ${title}`, `${mood}, ${cards} cards, ${boxes} boxes, ${wide} px`);
    say(page.complaints.length === 0, "its console is clean", page.complaints.join("; "));
    await picture(page, `${kind}-${i}`);
  }
  // A list of tables: one entry more, and back; a wrong value is told at the box's own key.
  const page = await browser.open(server.url + "#" + new URLSearchParams(examples.find(({kind}) => kind === "sharing").start));
  await page.until(`${answers(1)} && ${settled}`);
  const entries = "document.querySelectorAll('[id^=more-tenant-]').length";
  const before = await page.evaluate(entries);
  await page.evaluate("document.getElementById('more-tenant-2').focus()");
  await page.press("Enter", "\r");
  await page.until(`${entries} === ${before + 1} && ${answers(2)} && ${settled}`, "another tenant");
  say(/tenant\.4\.rate=/.test(await page.evaluate("location.hash")), "another tenant stands in the address");
  await page.evaluate("history.back()");
  await page.until(`${entries} === ${before} && ${answers(3)} && ${settled}`, "the back button takes it away");
  await page.evaluate("(() => { const box = document.getElementById('f-tenant-2-busy'); box.value = '7'; box.dispatchEvent(new Event('input')); box.dispatchEvent(new Event('change')); })()");
  await page.until(`/tenant.2.busy/.test(${text("#ways")})`, "a wrong value is told with its box");
  say(true, "lists of tables are asked", await page.evaluate(text("#ways")));
});

const drop = (content, name) => `(() => {
  const data = new DataTransfer();
  data.items.add(new File([${content}], ${JSON.stringify(name)}));
  dispatchEvent(new DragEvent("drop", {dataTransfer: data, cancelable: true}));
})()`;

check("files", async () => {
  const page = await browser.open(server.url + TRAIN);
  await page.until(`${answers(1)} && ${settled}`);
  await page.evaluate(drop("new Uint8Array(64 * 2 ** 20 + 1).fill(32)", "config.json"));
  await page.until(`/larger than 64 MiB, the most that is read of such a file; split it, or name another/.test(${text("#ways")})`, "a file above 64 MiB is refused in the words of the command line");
  await page.evaluate(drop("new Uint8Array(64e6).fill(32)", "config.json"));
  await page.until(`${settled} && document.querySelectorAll("#ways li").length > 0 && !/larger/.test(${text("#ways")})`, "64 MB of blanks are refused");
  await page.evaluate(drop("'{\"a\": [1,\\n'", "config.json"));
  await page.until(`/Invalid value/.test(${text("#ways")})`, "broken JSON is refused in the words of the command line");
  await page.evaluate(drop("'{\"architectures\": 7}'", "config.json"));
  await page.until(`document.querySelectorAll("#ways li").length > 0 && !/Invalid value/.test(${text("#ways")})`, "a config.json of nothing is refused");
  const config = {architectures: ["LlamaForCausalLM"], model_type: "llama", hidden_size: 4096, intermediate_size: 14336, num_hidden_layers: 32,
                  num_attention_heads: 32, num_key_value_heads: 8, vocab_size: 128256, max_position_embeddings: 8192, hidden_act: "silu", tie_word_embeddings: false};
  await page.evaluate(drop(JSON.stringify(JSON.stringify(config)), "config.json"));
  await page.until(`/model=%7B/.test(location.hash) && ${settled} && document.querySelectorAll(".card").length > 4`, "a config.json is taken, into the address too");
  say(page.complaints.length === 0, "the page is alive and its console clean", page.complaints.join("; "));
});

check("no network", async () => {
  const page = await browser.open(server.url + LOAD);
  await page.until(`${answers(1)} && ${settled}`);
  const first = await page.evaluate(text("#verdict"));
  await page.until("navigator.serviceWorker.ready.then(() => true)", "the service worker stands");
  await server.close();
  await page.call("Network.emulateNetworkConditions", {offline: true, latency: 0, downloadThroughput: -1, uploadThroughput: -1});
  await page.call("Page.reload");
  await sleep(300);
  await page.until(`${answers(1)} && ${settled} && ${text("#verdict")} === ${JSON.stringify(first)}`, "the page answers without a server");
  say(true, "the page answers without a server");
});

check("one file", async () => {
  const page = await browser.open(pathToFileURL(join(build, "headroom.html")).href + LOAD);
  await page.until(`${answers(1)} && ${settled}`);
  say(/fits/.test(await page.evaluate(text("#verdict"))), "the page in one file answers from file://", await page.evaluate(text("#took")));
  await page.until("document.querySelectorAll('#curve circle').length > 8");
  say(page.complaints.length === 0, "its console is clean", page.complaints.join("; "));
  say(page.requests.filter((url) => !/^(file|data|blob):/.test(url)).length === 0, "it asks nobody");
});

for (const [name, run] of checks) {
  if (process.env.HEADROOM_CHECK && !name.includes(process.env.HEADROOM_CHECK)) continue;
  console.log(`-- ${name}`);
  try {
    await run();
  } catch (error) {
    say(false, name, error.message);
  }
}
await browser.close();
await server.close().catch(() => {});
process.exit(failed === 0 ? 0 : 1);
