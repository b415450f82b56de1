// A headless Chromium driven over a pipe by its DevTools protocol, and a server of a folder that can be switched off.
import {spawn} from "node:child_process";
import {createServer} from "node:http";
import {mkdtempSync, readFileSync, rmSync, existsSync} from "node:fs";
import {extname, join, normalize} from "node:path";
import {tmpdir} from "node:os";

const PATIENCE_MS = 60000;

export class Browser {
  constructor(program) {
    this.profile = mkdtempSync(join(tmpdir(), "headroom-web-"));
    this.process = spawn(program, ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
      "--disable-background-networking", "--no-first-run", "--remote-debugging-pipe", `--user-data-dir=${this.profile}`, "about:blank"],
      {stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"]});
    this.last = 0;
    this.waiting = new Map();
    let unread = "";
    this.process.stdio[4].on("data", (data) => {
      unread += data.toString("utf8");
      const messages = unread.split("\0");
      unread = messages.pop();
      for (const text of messages) this.take(JSON.parse(text));
    });
  }

  take(message) {
    if (message.id !== undefined) {
      const {resolve, reject, method} = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      message.error ? reject(new Error(`${method}: ${message.error.message}`)) : resolve(message.result);
      return;
    }
    this.page?.note(message);
  }

  call(method, params = {}, sessionId = undefined) {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method}: no answer`)), PATIENCE_MS);
      this.waiting.set(id, {method, resolve: (value) => (clearTimeout(timer), resolve(value)), reject: (e) => (clearTimeout(timer), reject(e))});
      this.process.stdio[3].write(JSON.stringify({id, method, params, sessionId}) + "\0");
    });
  }

  /** A tab of its own; {width, height, phone, dark}. */
  async open(url, view = {}) {
    if (this.page) await this.call("Target.closeTarget", {targetId: this.page.target});
    const {targetId} = await this.call("Target.createTarget", {url: "about:blank"});
    const {sessionId} = await this.call("Target.attachToTarget", {targetId, flatten: true});
    this.page = new Page(this, targetId, sessionId);
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await this.page.call(domain + ".enable");
    await this.page.call("Emulation.setDeviceMetricsOverride", {width: view.width ?? 1280, height: view.height ?? 900,
      deviceScaleFactor: 1, mobile: view.phone === true});
    await this.page.call("Emulation.setEmulatedMedia", {features: [{name: "prefers-color-scheme", value: view.dark ? "dark" : "light"}]});
    await this.page.call("Page.navigate", {url});
    return this.page;
  }

  async close() {
    await this.call("Browser.close").catch(() => {});
    await new Promise((done) => (this.process.exitCode !== null ? done() : this.process.once("exit", done)));
    rmSync(this.profile, {recursive: true, force: true, maxRetries: 5, retryDelay: 200});
  }
}

class Page {
  constructor(browser, target, session) {
    Object.assign(this, {browser, target, session, complaints: [], requests: []});
  }

  note({method, params}) {
    if (method === "Runtime.exceptionThrown") {
      this.complaints.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    }
    if (method === "Runtime.consoleAPICalled") this.complaints.push(params.args.map((arg) => arg.value ?? arg.description).join(" "));
    if (method === "Log.entryAdded") this.complaints.push(`${params.entry.text} ${params.entry.url ?? ""}`);
    if (method === "Network.requestWillBeSent") this.requests.push(params.request.url);
  }

  call(method, params) {
    return this.browser.call(method, params, this.session);
  }

  async evaluate(expression) {
    const {result, exceptionDetails} = await this.call("Runtime.evaluate", {expression, awaitPromise: true, returnByValue: true});
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** Waits until an expression holds. */
  async until(expression, what = expression, patience = PATIENCE_MS) {
    const end = Date.now() + patience;
    while (!(await this.evaluate(expression).catch(() => false))) {
      if (Date.now() > end) throw new Error(`never: ${what}; the verdict is "${await this.evaluate("document.getElementById('verdict')?.textContent")}"`);
      await new Promise((done) => setTimeout(done, 20));
    }
  }

  /** Keys as somebody presses them. */
  async press(key, text = undefined, modifiers = 0) {
    const code = {Tab: 9, Enter: 13, " ": 32, ArrowRight: 39, ArrowLeft: 37, ArrowDown: 40, ArrowUp: 38, Backspace: 8, a: 65}[key] ?? 0;
    const params = {key, code: key.length === 1 ? `Key${key.toUpperCase()}` : key, windowsVirtualKeyCode: code, modifiers};
    await this.call("Input.dispatchKeyEvent", {type: text ? "keyDown" : "rawKeyDown", text, ...params});
    await this.call("Input.dispatchKeyEvent", {type: "keyUp", ...params});
  }

  async screenshot(whole = true) {
    const {data} = await this.call("Page.captureScreenshot", {format: "png", captureBeyondViewport: whole});
    return Buffer.from(data, "base64");
  }
}

const TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".wasm": "application/wasm"};

/** A folder on a port of this machine. */
export function serve(folder) {
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://x").pathname));
    const file = join(folder, path === "/" ? "index.html" : path);
    if (path.includes("..") || !existsSync(file)) return response.writeHead(404).end();
    response.writeHead(200, {"Content-Type": TYPES[extname(file)] ?? "application/octet-stream"}).end(readFileSync(file));
  });
  return new Promise((done) => server.listen(0, "127.0.0.1", () => done({
    url: `http://127.0.0.1:${server.address().port}/`,
    close: () => new Promise((closed) => {
      server.close(closed);
      server.closeAllConnections();
    }),
  })));
}

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
