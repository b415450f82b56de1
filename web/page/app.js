// The page: one state, which stands in the address; a form over it; an engine that answers it.
import {byId, element, fill, fold} from "./dom.js";
import {browserEngine, serverEngine} from "./engine.js";
import {Form} from "./form.js";
import {ConfigFile} from "./config_file.js";
import {Keys} from "./keys.js";
import {QUESTIONS, carriedOver, curveOf, questionOf} from "./questions.js";
import {cards, charts, choices, curve, explained, inWords, rates, sources, verdictOf, waysOut} from "./results.js";
import {commandOf, readHash, scenarioOf, writeHash} from "./state.js";

const api = document.querySelector('meta[name="headroom-api"]')?.content;
const engine = api ? serverEngine(api) : browserEngine(window.headroomWorker ?? (() => new Worker("worker.js")), compiled());

/** The engine's code, compiled once for all its workers. */
function compiled() {
  if (window.headroomModule) return window.headroomModule();  // of the page in one file
  return fetch("headroom.wasm").then(async (response) => {
    if (response.headers.get("Content-Type") === "application/wasm") return WebAssembly.compileStreaming(response);
    return WebAssembly.compile(await response.arrayBuffer());  // of servers that do not know the type
  });
}

let state = new Map();
let keys = new Keys([]);
let lists = {};
let answer = null;      // the last answer's document
let asked = 0;          // counts questions: what an older one brings is dropped
let typing = false;     // whether the newest entry of the history is one that is still being typed
const form = new Form(byId("form"), edited, replaced);
const config = new ConfigFile(readConfig);

// ---------------------------------------------------------------- the state and its address

function edited(key, text, done, redraw = false) {
  if ((state.get(key) ?? "") !== text) {
    if (text === "") state.delete(key);
    else state.set(key, text);
    remember(typing);
    typing = true;
    ask();
  }
  if (done) typing = false;
  if (redraw) showForm();
}

/** Several keys at once, of a remedy or a point of a chart. */
function take(pairs) {
  for (const [key, text] of pairs) {
    state.set(key, text);
    for (const other of [...state.keys()]) {
      if (other.startsWith("search.") && other.endsWith("." + key.split(".").pop())) state.delete(other);
    }
  }
  remember(false);
  typing = false;
  showForm();
  ask();
}

function remember(replace) {
  history[replace ? "replaceState" : "pushState"](null, "", writeHash(state));
}

function readAddress() {
  state = readHash(location.hash);
  if (state.size === 0) {
    state = new Map(Object.entries(QUESTIONS[0].start));
    history.replaceState(null, "", writeHash(state));
  }
  typing = false;
  showForm();
  ask();
}

// ---------------------------------------------------------------- the form

function showForm() {
  const question = questionOf(state);
  fill(byId("questions"), QUESTIONS.map((one) => element("label", {},
      element("input", {type: "radio", name: "question", id: "q-" + one.id, checked: one === question ? true : undefined,
                        onchange: () => choose(one)}), element("span", {}, one.title))));
  byId("asks").textContent = question?.asks ?? "The key kind says which of these is asked.";
  form.show(question, state, keys, lists, config.place);
}

/** The whole question is another one: another kind, an example, an entry of a list more or less. */
function replaced(other) {
  state = other;
  remember(false);
  typing = false;
  showForm();
  ask();
}

const choose = (question) => replaced(carriedOver(state, question));

async function readConfig(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const mine = ++asked;
  say("busy", `${file.name} is being read …`);
  const {document: doc} = await engine.readConfig(bytes);
  if (mine !== asked) return;
  if (doc.schema === "headroom.error/1") {
    config.say(`${file.name} was not taken`);
    show({text: "", ms: 0, document: doc});
    return;
  }
  config.say(`taken from ${file.name}`);
  take([["model", JSON.stringify(doc.model)]]);
}

// ---------------------------------------------------------------- question and answer

const typeOf = (path) => keys.typeOf(path, state.get("kind"));
const request = (of) => ({scenario: scenarioOf(of, typeOf)});

async function ask() {
  const mine = ++asked;
  document.body.classList.add("asking");
  const slow = setTimeout(() => mine === asked && say("busy", "It is being computed …"), 400);
  const reply = await engine.ask("plan", request(state));
  clearTimeout(slow);
  if (mine !== asked) return;
  show(reply);
  const beside = curveOf(questionOf(state), state);
  if (!beside || reply.document.schema === "headroom.error/1") {
    fill(byId("curve"));
    return;
  }
  // A slider that still moves asks again before its curve is begun.
  await new Promise((done) => setTimeout(done, 300));
  const drawn = [];
  for (const one of beside.states) {
    if (mine !== asked) return;
    drawn.push((await engine.ask(beside.verb, request(one), {lane: "side"})).document);
  }
  if (mine !== asked) return;
  const here = Number(state.get("serving.concurrency")) || undefined;
  const parts = beside.rates ? [rates(beside.rates.map((rate, i) => ({rate, doc: drawn[i]})), take)] : curve(drawn[0], take, here);
  fill(byId("curve"), section(beside.title, element("div.pair", {}, parts)));
}

function say(mood, text) {
  const verdict = byId("verdict");
  verdict.className = mood;
  if (verdict.textContent !== text) verdict.textContent = text;
}

function section(title, ...children) {
  const there = children.flat(Infinity).filter(Boolean);
  return there.length > 0 ? element("section", {}, element("h2", {}, title), there) : null;
}

/** Charts side by side; nothing where there are none. */
function pair(drawn) {
  const there = drawn.filter(Boolean);
  return there.length > 0 ? element("div.pair", {}, there) : null;
}

function show(reply) {
  answer = reply;
  const doc = reply.document;
  const {mood, text} = verdictOf(doc);
  say(mood, text);
  document.body.classList.remove("asking");
  document.body.dataset.answered = String(Number(document.body.dataset.answered ?? 0) + 1);
  byId("took").textContent = reply.ms > 0 ? `answered ${engine.name} in ${reply.ms < 10 ? reply.ms.toFixed(1) : Math.round(reply.ms)} ms` : "";
  const ways = waysOut(doc, take);
  const bad = mood === "bad" || mood === "warn";
  fill(byId("ways"), section(bad ? "Why not, and what helps" : "Besides", ways));
  fill(byId("numbers"), cards(doc));
  fill(byId("charts"), section("What it is made of", pair(charts(doc))));
  fill(byId("choices"), section("Strategies", choices(doc, take)));
  fill(byId("words"), section("The answer in words", inWords(doc) ? answerText() : null));
  fill(byId("sources"), section("Can it be trusted?", reply.text && explained(doc) ? explanation() : null, sources(doc), reply.text ? [
    fold("command", "The same on the command line", element("pre", {tabindex: 0}, commandOf("plan", state, typeOf))),
    fold("json", "The whole answer as JSON", element("pre", {tabindex: 0}, reply.text)),
  ] : null));
}

// ---------------------------------------------------------------- links and files

byId("share").addEventListener("click", async () => {
  const told = byId("told");
  try {
    await navigator.clipboard.writeText(location.href);
    told.textContent = "The link is in the clipboard.";
  } catch {
    told.textContent = "The address of this page is the link.";
  }
  setTimeout(() => (told.textContent = ""), 4000);
});

function save(text, type, name) {
  const link = element("a", {href: URL.createObjectURL(new Blob([text], {type})), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

byId("save").addEventListener("click", () => answer?.text && save(answer.text, "application/json", "headroom.json"));

/** The page of `--format html`, with its charts in one file. */
byId("report").addEventListener("click", async () => {
  const told = byId("told");
  told.textContent = "The report is being written …";
  const {text, document: refused} = await engine.ask("plan", {...request(state), format: "html"}, {lane: "more"});
  told.textContent = refused ? refused.errors[0].message : "";
  if (!refused) save(text, "text/html", "headroom.html");
});

/** What the command line prints, of answers that have more kinds of tables than the page draws. */
function answerText() {
  const place = element("pre", {tabindex: 0}, "It is being written …");
  const mine = asked;
  engine.ask("plan", {...request(state), format: "text"}, {lane: "side"}).then(({text, document: refused}) => {
    if (mine === asked) place.textContent = refused ? refused.errors.map((e) => e.message).join("\n") : text.replace(/^<request>(\n|: )/, "");
  });
  return place;
}

/** Every term with its formula, inputs and sources, when it is opened. */
function explanation() {
  const place = element("pre", {tabindex: 0}, "It is being explained …");
  const made = fold("explain", "Why these numbers: every term with its formula and its inputs", place);
  const mine = asked;
  const ask = async () => {
    const {text, document: refused} = await engine.ask("explain", {...request(state), format: "text"}, {lane: "more"});
    if (mine === asked) place.textContent = refused ? refused.errors.map((e) => e.message).join("\n") : text;
  };
  made.addEventListener("toggle", () => made.open && ask(), {once: true});
  return made;
}

// ---------------------------------------------------------------- the start

addEventListener("popstate", readAddress);
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();  // the address holds the question
  byId("verdict").focus();
});

async function start() {
  if (api) byId("where").textContent = `It is computed by ${location.host}, which sees what is asked.`;
  say("busy", "The engine is being started …");
  const table = await engine.ask("keys", {});
  keys = new Keys(table.document.keys ?? []);
  readAddress();
  lists = await engine.lists(["gpus", "prices", "models"]);
  showForm();
}

if (!api && "serviceWorker" in navigator && location.protocol.startsWith("http")) {
  navigator.serviceWorker.register("service_worker.js");
}
start();
