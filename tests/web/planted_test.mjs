// A key of a scenario on the page that a program serves: it is found among all keys with its meaning, and asked.
//   node planted_test.mjs PROGRAM CHROMIUM KEY VALUE MEANING
import {spawn} from "node:child_process";
import {Browser} from "./browser.mjs";

const [program, chromium, key, value, meaning] = process.argv.slice(2);
const server = spawn(program, ["web", "--port", "0", "--workers", "1"], {stdio: ["ignore", "ignore", "pipe"]});
const url = await new Promise((found, failed) => {
  let told = "";
  server.stderr.on("data", (data) => {
    told += data;
    const at = /http:\/\/127\.0\.0\.1:\d+\//.exec(told);
    if (at) found(at[0]);
  });
  server.on("exit", () => failed(new Error(`the server ended: ${told}`)));
});
const browser = new Browser(chromium);
let problem = "";
try {
  const page = await browser.open(url);
  const answered = (n) => `Number(document.body.dataset.answered ?? 0) >= ${n} && !document.body.classList.contains("asking")`;
  await page.until(`${answered(1)} && document.querySelectorAll("#f-hardware-gpu-list option").length > 20`, "a first answer and the catalog's lists");
  await page.evaluate("document.querySelector('#all-keys summary').click()");
  await page.until("document.getElementById('all-keys-find') !== null");
  await page.evaluate(`(() => { const find = document.getElementById("all-keys-find"); find.value = ${JSON.stringify(key)}; find.dispatchEvent(new Event("input")); })()`);
  await page.until(`document.getElementById("all-keys-list").textContent.includes(${JSON.stringify(meaning)})`, `${key} with its meaning among all keys`, 10000);
  const box = "f-" + key.replace(/\W/g, "-");
  await page.evaluate(`(() => { const box = document.getElementById(${JSON.stringify(box)}); box.value = ${JSON.stringify(value)}; box.dispatchEvent(new Event("input")); box.dispatchEvent(new Event("change")); })()`);
  await page.until(answered(2), "an answer with it");
  const hash = await page.evaluate("location.hash");
  const wrong = await page.evaluate("document.querySelector('#ways .problems')?.textContent ?? ''");
  if (!hash.includes(`${key}=${value}`)) problem = `the address has no ${key}: ${hash}`;
  if (wrong.includes(key.split(".").pop())) problem = `it is refused: ${wrong}`;
  if (page.complaints.length > 0) problem = page.complaints.join("; ");
} catch (error) {
  problem = error.message;
}
await browser.close();
server.removeAllListeners("exit");
server.kill();
console.log(problem || `the page has ${key}`);
process.exit(problem ? 1 : 0);
