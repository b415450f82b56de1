// The form of a question: boxes with labels, sliders, help and bounds from the table of keys.
import {element, fill, fold} from "./dom.js";
import {boundsText, meaningOf, wrongWith} from "./keys.js";
import {pathOf} from "./state.js";

/** What the catalog lists for keys of this last name. */
const FROM = {gpu: "gpus", prices: "prices", model: "models"};

/** The unit of a text that is one number and one unit, "40 req/s". */
const unitOf = (text) => /^[\d.e+]+ (\S+)$/i.exec(text ?? "")?.[1];

/** A slider to a sixteenth and to sixteen times of a number that is stated, within its bounds; undefined for others. */
function sliderOf(row, text) {
  const value = Number.parseFloat(text);
  if (!["integer", "number", "quantity"].includes(row?.type) || !(value > 0) || !/^[\d.e+]+( \S+)?$/i.test(text)) return undefined;
  const bounded = row.type !== "quantity";
  const least = Math.max(value / 16, bounded ? row.low ?? 0 : 0);
  const low = row.type === "integer" ? Math.max(1, Math.ceil(least)) : least;
  const high = Math.min(value * 16, bounded ? row.high ?? Infinity : Infinity);
  return low > 0 && high > low ? [low, high] : undefined;
}

const idOf = (key) => "f-" + key.replace(/\W/g, "-");

/**
 * A form over `state`, a Map of keys to texts. changed(key, text, done): a box holds something else; `done` is false
 * while a slider moves or somebody types. replaced(state): the whole question is another, such as an example.
 */
export class Form {
  constructor(place, changed, replaced) {
    this.place = place;
    this.changed = changed;
    this.replaced = replaced;
    this.fields = new Map();  // key -> {input, slider, field}
  }

  show(question, state, keys, lists, config) {
    this.fields.clear();
    this.keys = keys;
    this.kind = state.get("kind");
    const shown = new Set(["kind", "config"]);
    const groups = question?.groups ? question.groups.map((group) => {
      group.fields.forEach((field) => shown.add(field.key));
      return element("fieldset", {}, element("legend", {}, group.title), group.note ? element("p.note", {}, group.note) : null,
                     element("div.fields", {}, group.fields.map((field) => this.field(field, state, lists, config))));
    }) : [];
    const others = [...state.keys()].filter((key) => !shown.has(key));
    if (question?.examples) groups.unshift(this.examples(question, state));
    if (!question?.groups) {
      groups.push(...this.tables(state, others, lists, question ? config : null));
    } else if (others.length > 0) {
      groups.push(element("fieldset", {}, element("legend", {}, "Also stated"), element("div.fields", {}, others.map((key) =>
          this.field({key, label: key, removable: true}, state, lists)))));
    }
    groups.push(this.allKeys(state, new Set([...shown, ...others]), lists));
    fill(this.place, groups);
  }

  /** A question to begin with. */
  examples(question, state) {
    const same = ({start}) => Object.entries(start).every(([key, text]) => state.get(key) === text) && Object.keys(start).length === state.size;
    const chosen = question.examples.findIndex(same);
    const box = element("select", {id: "example", onchange: () => {
      const example = question.examples[Number(box.value)];
      if (example) this.replaced(new Map(Object.entries(example.start)));
    }}, chosen < 0 ? element("option", {value: ""}, "–") : null,
        question.examples.map((one, i) => element("option", {value: String(i), selected: i === chosen}, one.title)));
    return element("fieldset", {}, element("div.field", {}, element("div.label", {}, element("label", {for: "example"}, "An example to begin with")), box));
  }

  /** The keys that are stated, by their tables, each entry of a list by itself. */
  tables(state, stated, lists, config) {
    const groups = new Map();
    for (const key of stated) {
      const table = key.split(".").slice(0, -1).join(".");
      (groups.get(table) ?? groups.set(table, []).get(table)).push(key);
    }
    const entry = /^(.*)\.(\d+)$/;
    const below = (table) => [...state].filter(([key]) => key.startsWith(table + "."));
    return [...groups].map(([table, keys]) => {
      const [, list, count] = entry.exec(table) ?? [];
      const name = table === "" ? "Question" : table.split(".").map((step) => step.replace(/_/g, " ")).join(" ");
      const another = () => {
        const others = [...state.keys()].filter((key) => key.startsWith(list + ".")).map((key) => Number.parseInt(key.slice(list.length + 1), 10));
        const next = new Map(state);
        for (const [key, text] of below(table)) {
          const rest = key.slice(table.length + 1);
          next.set(`${list}.${Math.max(...others) + 1}.${rest}`, rest === "name" ? `${text} ${Math.max(...others) + 1}` : text);
        }
        this.replaced(next);
      };
      const without = () => this.replaced(new Map([...state].filter(([key]) => !key.startsWith(table + "."))));
      const meaning = this.keys.find(table, this.kind)?.meaning;
      return element("fieldset", {}, element("legend", {}, name[0].toUpperCase() + name.slice(1)),
                     meaning ? element("p.note", {}, meaning) : null,
                     element("div.fields", {}, keys.map((key) => this.field(this.generalField(key, table, state, config !== null), state, lists, config))),
                     count ? element("p.line", {}, element("button.small", {type: "button", id: `more-${list.replace(/\W/g, "-")}-${count}`, onclick: another}, `Another ${list.split(".").pop()}`), " ",
                                     element("button.small", {type: "button", "aria-label": `Remove ${name}`, onclick: without}, "Remove")) : null);
    });
  }

  /** A key of a form that is made of the table of keys. */
  generalField(key, table, state, config) {
    const row = this.keys.find(key, this.kind);
    const text = state.get(key);
    // Lists have many boxes; there a slider beside each would hide them.
    const slider = /\.\d+(\.|$)/.test(table) ? undefined : sliderOf(row, text);
    return {key, label: key.slice(table.length).replace(/^\./, "").replace(/_/g, " "), removable: true, from: FROM[pathOf(key).split(".").pop()],
            config: key === "model" && config, slider, unit: unitOf(text), short: !slider && key !== "model" && text.length < 16};
  }

  /** Boxes take what the state holds now, but for the one that somebody types in. */
  update(state) {
    for (const [key, {input, slider, field}] of this.fields) {
      const text = state.get(key) ?? "";
      if (input !== document.activeElement && input.value !== text) input.value = text;
      if (slider && slider !== document.activeElement) slider.value = String(toSlider(field, text));
      this.judge(key, text);
    }
  }

  judge(key, text) {
    const {input, wrong} = this.fields.get(key);
    const problem = wrongWith(this.keys.find(key, this.kind), text);
    input.toggleAttribute("aria-invalid", problem !== "");
    if (problem) input.setAttribute("aria-invalid", "true");
    wrong.textContent = problem;
  }

  field(field, state, lists, config) {
    const id = idOf(field.key);
    const row = this.keys.find(field.key, this.kind);
    const text = state.get(field.key) ?? "";
    const closed = row?.type === "choice" || row?.type === "boolean";
    const words = row?.type === "boolean" ? ["true", "false"] : row?.choices ?? [];
    let input;
    if (closed && words.length > 0) {
      input = element("select", {id}, element("option", {value: ""}, "–"), words.map((word) => element("option", {value: word}, word)));
      if (text && !words.includes(text)) input.append(element("option", {value: text}, text));
    } else {
      const known = field.from ? lists[field.from] ?? [] : words;
      const list = known.length > 0 ? element("datalist", {id: id + "-list"}, known.map((one) =>
          element("option", {value: one.id ?? one}, one.name ?? ""))) : null;
      input = element("input", {id, type: "text", autocomplete: "off", spellcheck: "false", autocapitalize: "none",
                                placeholder: field.hint ?? row?.example, list: list ? id + "-list" : undefined,
                                inputmode: row?.type === "integer" ? "numeric" : undefined});
      if (list) this.place.ownerDocument.defaultView.queueMicrotask(() => input.after(list));
    }
    input.value = text;
    input.setAttribute("aria-describedby", `${id}-help ${id}-wrong`);
    const wrong = element("span.wrong", {id: id + "-wrong", role: "alert"});
    const told = (done) => {
      this.judge(field.key, input.value.trim());
      if (slider) slider.value = String(toSlider(field, input.value));
      this.changed(field.key, input.value.trim(), done);
    };
    input.addEventListener("input", () => told(false));
    input.addEventListener("change", () => told(true));
    let slider = null;
    if (field.slider) {
      slider = element("input", {type: "range", min: 0, max: 1000, step: 1, "aria-label": `${field.label}, slider`});
      slider.value = String(toSlider(field, text));
      const moved = (done) => {
        input.value = fromSlider(field, Number(slider.value));
        slider.setAttribute("aria-valuetext", input.value);
        this.judge(field.key, input.value);
        this.changed(field.key, input.value, done);
      };
      slider.addEventListener("input", () => moved(false));
      slider.addEventListener("change", () => moved(true));
      slider.addEventListener("keydown", (event) => keyOfSlider(event, field, slider, moved));
    }
    this.fields.set(field.key, {input, slider, field, wrong});
    const help = element("details.help", {}, element("summary", {"aria-label": `What ${field.label} means`, title: "What it means"}, "?"),
                         element("p.note", {id: id + "-help"}, meaningOf(row), " ", element("code", {}, field.key), " ",
                                 boundsText(row)));
    const remove = field.removable ? element("button.small", {type: "button", "aria-label": `Remove ${field.key}`, onclick: () =>
        this.changed(field.key, "", true, true)}, "×") : null;
    return element("div.field" + (field.short ? ".short" : ""), {},
                   element("div.label", {}, element("label", {for: id}, field.label), help, remove), input, slider,
                   field.config ? config : null, wrong);
  }

  /** Every key that such a question may state, drawn when it is opened. */
  allKeys(state, shown, lists) {
    const list = element("div.keys", {id: "all-keys-list"});
    const find = element("input", {id: "all-keys-find", type: "search", placeholder: "zero, prices, draft …", autocomplete: "off"});
    const draw = () => {
      const wanted = find.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
      const rows = this.keys.ofKind(this.kind).map((row) => ({...row, key: this.keys.counted(row.path, this.kind, state)})).filter((row) => !shown.has(row.key) &&
          wanted.every((word) => row.path.toLowerCase().includes(word) || (row.meaning ?? "").toLowerCase().includes(word)));
      const most = 60;
      fill(list, element("p.note", {role: "status"}, `${rows.length} keys${rows.length > most ? `, the first ${most} of them shown` : ""}`),
           rows.slice(0, most).map((row) => this.field({key: row.key, label: row.key, from: FROM[row.path.split(".").pop()]}, state, lists)));
    };
    find.addEventListener("input", draw);
    const panel = fold("all keys", "All keys of such a question", element("div.field", {},
        element("div.label", {}, element("label", {for: "all-keys-find"}, "Find a key")), find), list);
    panel.id = "all-keys";
    panel.addEventListener("toggle", () => panel.open && list.childElementCount === 0 && draw());
    if (panel.open) draw();
    return panel;
  }
}

/** The place of a text on its slider, 0 to 1000 on a scale of ratios. */
function toSlider({slider: [low, high]}, text) {
  const value = Number.parseFloat(text);
  if (!(value > 0)) return 0;
  return Math.round(1000 * Math.min(1, Math.max(0, Math.log(value / low) / Math.log(high / low))));
}

/** The text at a place of a slider: a power of two where the key moves in them, else two digits. */
function fromSlider({slider: [low, high], steps, unit}, at) {
  const value = low * (high / low) ** (at / 1000);
  const rounded = steps === "powers" ? 2 ** Math.round(Math.log2(value))
                                     : Number(value.toPrecision(value >= 1 && value < 10 && !unit ? 1 : 2));
  return String(Math.min(high, Math.max(low, rounded))) + (unit ? " " + unit : "");
}

/** An arrow goes to the next value that differs: a thousandth of the way would often be the same power of two. */
function keyOfSlider(event, field, slider, moved) {
  const way = {ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1}[event.key];
  if (!way) return;
  event.preventDefault();
  const before = fromSlider(field, Number(slider.value));
  let at = Number(slider.value);
  do at += way;
  while (at > 0 && at < 1000 && fromSlider(field, at) === before);
  slider.value = String(toSlider(field, fromSlider(field, Math.min(1000, Math.max(0, at)))));
  moved(true);
}
