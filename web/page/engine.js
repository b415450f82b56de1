// Who answers: the same C++ in a Web Worker, or the server that sent this page. Both take (verb, request) and give the
// JSON document that the command line prints.
//
// A lane answers one question at a time, and of those that wait the newest alone: sliders ask more than can be answered.
// A promise of a question that was overtaken never settles.

/** What a program reads; null of a page, or of text for people. */
const documentOf = (text) => (text.startsWith("{") ? JSON.parse(text) : null);

/** Answers in a worker of its own. `start` makes a worker that is told its wasm; `patience_ms`: a question that a newer
 *  one has waited for so long is given up, with its worker. */
class Lane {
  constructor(start, patience_ms = 1500) {
    this.start = start;
    this.patience_ms = patience_ms;
    this.worker = null;
    this.running = null;
    this.waiting = null;
    this.last = 0;
  }

  ask(verb, request, files = []) {
    return new Promise((done) => {
      this.waiting = {id: ++this.last, verb, request, files, done};
      if (!this.running) this.next();
      else if (!this.timer && this.patience_ms < Infinity) this.timer = setTimeout(() => this.giveUp(), this.patience_ms);
    });
  }

  next() {
    clearTimeout(this.timer);
    this.timer = null;
    this.running = this.waiting;
    this.waiting = null;
    if (!this.running) return;
    if (!this.worker) {
      this.worker = this.start();
      this.worker.onmessage = (message) => this.answered(message.data);
      this.worker.onerror = (event) => this.broke(event.message || "the worker could not be started");
    }
    const {id, verb, request, files} = this.running;
    this.worker.postMessage({id, verb, request, files});
  }

  answered({id, text, ms, failed}) {
    if (!this.running || id !== this.running.id) return;
    if (failed) return this.broke(failed);
    const {done} = this.running;
    this.running = null;
    done({text, ms, document: documentOf(text)});
    this.next();
  }

  giveUp() {
    this.timer = null;
    this.stop();
    this.next();
  }

  /** A trap of the machine or memory that ran out: this worker is worth nothing any more, the next one is whole. */
  broke(message) {
    const asked = this.running;
    this.stop();
    asked?.done({text: "", ms: 0, document: {
      schema: "headroom.error/1", exit_code: 2, errors: [{code: "internal", message: `this browser could not answer: ${message}`}]}});
    this.next();
  }

  stop() {
    this.worker?.terminate();
    this.worker = null;
    this.running = null;
  }
}

/** The engine in this browser. `makeWorker`: () => Worker. `wasm`: promise of its compiled module. */
export function browserEngine(makeWorker, wasm) {
  let module = null;
  const ready = wasm.then((made) => (module = made));
  const start = () => {
    const worker = makeWorker();
    worker.postMessage({module});
    return worker;
  };
  const lanes = {main: new Lane(start), side: new Lane(start, 250), more: new Lane(start, 250)};
  /** In a worker of its own, which is ended afterwards with whatever memory it took. */
  const apart = async (ask) => {
    await ready;
    const lane = new Lane(start, Infinity);
    try {
      return await ask(lane);
    } finally {
      lane.stop();
    }
  };
  return {
    name: "in this browser",
    async ask(verb, request, {lane = "main"} = {}) {
      await ready;
      return lanes[lane].ask(verb, request);
    },
    readConfig: (bytes) => apart((lane) => lane.ask("import", {}, [{name: "config.json", bytes}])),
    lists: (kinds) => apart(async (lane) => {
      const found = {};
      for (const kind of kinds) found[kind] = (await lane.ask("catalog", {kind})).document[kind] ?? [];
      return found;
    }),
  };
}

/** The server behind `base`, "/api/v1". A newer question of a lane ends the older one's request. */
export function serverEngine(base) {
  const under = {};
  const failed = (message) => ({text: "", ms: 0, document: {schema: "headroom.error/1", exit_code: 2, errors: [{code: "system", message}]}});
  const fetched = async (path, options, signal) => {
    const started = performance.now();
    try {
      const response = await fetch(`${base}/${path}`, {...options, signal});
      const text = await response.text();
      return {text, ms: performance.now() - started, document: documentOf(text)};
    } catch (error) {
      return signal?.aborted ? new Promise(() => {}) : failed(`the server does not answer: ${error.message}`);
    }
  };
  const posted = (body) => ({method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)});
  return {
    name: "on " + location.host,
    ask(verb, request, {lane = "main"} = {}) {
      if (verb === "keys") return fetched("keys", {});
      under[lane]?.abort();
      under[lane] = new AbortController();
      return fetched(verb, posted(request), under[lane].signal);
    },
    readConfig: (bytes) => fetched("import", posted({config: new TextDecoder().decode(bytes)})),
    async lists(kinds) {
      const found = {};
      for (const kind of kinds) found[kind] = (await fetched(`catalog/${kind}`, {})).document[kind] ?? [];
      return found;
    },
  };
}
