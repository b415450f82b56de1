// The form of a question: boxes with labels, sliders, help and bounds from the table of keys.
import {element, fill, fold} from "./dom.js";
import {boundsText, meaningOf, wrongWith} from "./keys.js";

const idOf = (key) => "f-" + key.replace(/\W/g, "-");

/**
 * A form over `state`, a Map of keys to texts. changed(key, text, done): a box holds something else; `done` is false
 * while a slider moves or somebody types.
 */
export class Form {
  constructor(place, changed) {
    this.place = place;
    this.changed = changed;
    this.fields = new Map();  // key -> {input, slider, field}
  }

  show(question, state, keys, lists, config) {
    this.fields.clear();
    this.keys = keys;
    this.kind = state.get("kind");
    const shown = new Set(["kind", "config"]);
    const groups = question ? question.groups.map((group) => {
      group.fields.forEach((field) => shown.add(field.key));
      return element("fieldset", {}, element("legend", {}, group.title), group.note ? element("p.note", {}, group.note) : null,
                     element("div.fields", {}, group.fields.map((field) => this.field(field, state, lists, config))));
    }) : [];
    const others = [...state.keys()].filter((key) => !shown.has(key));
    if (others.length > 0) {
      groups.push(element("fieldset", {}, element("legend", {}, "Also stated"), element("div.fields", {}, others.map((key) =>
          this.field({key, label: key, removable: true}, state, lists)))));
    }
    groups.push(this.allKeys(state, new Set([...shown, ...others]), lists));
    fill(this.place, groups);
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
      const rows = this.keys.ofKind(this.kind).filter((row) => !shown.has(row.path) &&
          wanted.every((word) => row.path.toLowerCase().includes(word) || (row.meaning ?? "").toLowerCase().includes(word)));
      const most = 60;
      fill(list, element("p.note", {role: "status"}, `${rows.length} keys${rows.length > most ? `, the first ${most} of them shown` : ""}`),
           rows.slice(0, most).map((row) => this.field({key: row.path, label: row.path}, state, lists)));
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
