// The page in one file, for a disk, a mail or a stick: opened from file:// it needs nothing else. Its scripts are named
// in its Content-Security-Policy by their hashes; the engine lies in it compressed.
import {readFileSync, writeFileSync} from "node:fs";
import {createHash} from "node:crypto";
import {gzipSync} from "node:zlib";
import {join} from "node:path";

/** Modules in the order of their imports, as one script: each states its names once, for the whole page. */
export function bundle(folder, entry) {
  const done = new Set();
  const texts = [];
  const add = (file) => {
    if (done.has(file)) return;
    done.add(file);
    const text = readFileSync(join(folder, file), "utf8");
    const imports = /^import\s[^;]*?from "\.\/([^"]+)";\n/gm;
    for (const [, other] of text.matchAll(imports)) add(other);
    texts.push(`// ${file}\n` + text.replace(imports, "").replace(/^export /gm, ""));
  };
  add(entry);
  return `"use strict";\n(() => {\n${texts.join("\n")}\n})();\n`;
}

const hashOf = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

// Read by the page before its own script runs.
const LOADER = `
window.headroomModule = async () => {
  const packed = Uint8Array.from(atob(document.getElementById("packed-wasm").textContent.trim()), (c) => c.charCodeAt(0));
  const whole = new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip")));
  return WebAssembly.compile(await whole.arrayBuffer());
};
window.headroomWorker = () => new Worker(URL.createObjectURL(
    new Blob([document.getElementById("worker-script").textContent], {type: "text/javascript"})));
`;

export function singleFile(page, engine, file) {
  const style = readFileSync(join(page, "style.css"), "utf8");
  const script = LOADER + bundle(page, "app.js");
  const worker = readFileSync(join(engine, "headroom.js"), "utf8") + "\n" + readFileSync(join(page, "worker.js"), "utf8");
  for (const text of [script, worker]) {
    if (/<\/script/i.test(text)) throw new Error("a script holds its own end");
  }
  const icon = "data:image/svg+xml;base64," + readFileSync(join(page, "icon.svg")).toString("base64");
  const policy = `default-src 'none'; script-src ${hashOf(script)} 'wasm-unsafe-eval'; style-src ${hashOf(style)}; ` +
      "worker-src blob:; img-src data:; base-uri 'none'; form-action 'none'";
  const wasm = gzipSync(readFileSync(join(engine, "headroom.wasm")), {level: 9}).toString("base64");
  // Replaced by functions: a text with "$&" in it would be taken for a pattern.
  const html = readFileSync(join(page, "index.html"), "utf8")
      .replace(/(http-equiv="Content-Security-Policy" content=")[^"]*/, (_, before) => before + policy)
      .replace(/href="icon\.svg"/, () => `href="${icon}"`)
      .replace(/<link rel="stylesheet"[^>]*>/, () => `<style>${style}</style>`)
      .replace(/<script type="module"[^>]*><\/script>\n/, "")
      .replace("</body>", () => `<script type="text/plain" id="worker-script">${worker}</script>\n` +
          `<script type="text/plain" id="packed-wasm">${wasm}</script>\n<script>${script}</script>\n</body>`);
  writeFileSync(file, html);
}
