// Puts the page, the page in one file and the npm module together from their sources and the engine.
//   node site.mjs SOURCE ENGINE OUTPUT VERSION
import {cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync} from "node:fs";
import {createHash} from "node:crypto";
import {join} from "node:path";
import {npmPackage} from "./npm_package.mjs";
import {singleFile} from "./single_file.mjs";

const [source, engine, output, version] = process.argv.slice(2);
const page = join(source, "page");
const engineFiles = ["headroom.js", "headroom.wasm"];

/** The page for any web server, with the list of its files for the service worker. */
function site(to) {
  rmSync(to, {recursive: true, force: true});
  mkdirSync(to, {recursive: true});
  cpSync(page, to, {recursive: true});
  for (const file of engineFiles) cpSync(join(engine, file), join(to, file));
  const files = readdirSync(to).filter((file) => file !== "service_worker.js").sort();
  const hash = createHash("sha256");
  for (const file of files) hash.update(file).update(readFileSync(join(to, file)));
  const worker = join(to, "service_worker.js");
  writeFileSync(worker, readFileSync(worker, "utf8")
      .replace("@VERSION@", `headroom-${version}-${hash.digest("hex").slice(0, 12)}`)
      .replace("@FILES@", files.map((file) => JSON.stringify(file)).join(", ")));
}

site(join(output, "web"));
singleFile(page, engine, join(output, "headroom.html"));
await npmPackage(source, engine, join(output, "npm"), version);
