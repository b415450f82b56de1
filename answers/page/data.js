// The documents inside the page, and what the page's own text says of their members.

const documents = {};
for (const script of document.querySelectorAll("script[data-document]")) {
  documents[script.dataset.document] = JSON.parse(script.textContent);
}

/** The member at "plan#/step_time_s/mid"; undefined where there is none. */
function member(pointer) {
  const [name, path] = pointer.split("#");
  const tokens = path.split("/").slice(1).map((t) => t.replace(/~1/g, "/").replace(/~0/g, "~"));
  return tokens.reduce(
      (value, token) => (value === undefined || value === null ? undefined : value[token]), documents[name]);
}

const shownTexts = new Map();
for (const element of document.querySelectorAll("data[data-of]")) {
  const key = element.dataset.of + (element.dataset.over ? " / " + element.dataset.over : "");
  if (!shownTexts.has(key)) shownTexts.set(key, element.textContent);
}

/** The number as the tables write it, so that hovering and reading agree; plain digits where no table has it. */
function shown(pointer) {
  const text = shownTexts.get(pointer);
  if (text !== undefined) return text;
  const value = member(pointer);
  return typeof value === "number" ? digits(value) : String(value ?? "");
}

/** "13.5 s to 23.1 s" of an interval, nothing of a plain number. */
function shownRange(pointer) {
  return member(pointer + "/low") === undefined ? "" : `${shown(pointer + "/low")} to ${shown(pointer + "/high")}`;
}

const threeDigits = new Intl.NumberFormat("en-US", {maximumSignificantDigits: 3, useGrouping: false});
function digits(value) {
  return threeDigits.format(value).replace(/\B(?=(\d{3})+$)(?=\d{3,}$)/g, value >= 10000 ? "\u00a0" : "");
}

const words = (name) => name.replace(/_/g, " ");

/** What of a strategy's members is not as usual, as the tables write it. */
function strategyWords(strategy) {
  const names = {zero: "ZeRO", micro_batch: "micro-batch"};
  return Object.entries(strategy)
      .filter(([name, value]) => value !== false && !(value === 1 && ["vpp", "cp", "ep", "etp"].includes(name)))
      .map(([name, value]) => (names[name] || words(name)) + (value === true ? "" : " " + value))
      .join(", ");
}

/** The unit of an axis and what to divide by: the largest whose maximum is at least one. */
function scaleFor(ladder, most) {
  return ladder.find(([factor]) => Math.abs(most) >= factor) || ladder[ladder.length - 1];
}
const timeScales = [[2 * 86400, "days"], [3600, "h"], [1, "s"], [1e-3, "ms"], [1e-6, "us"], [1e-9, "ns"]];
const moneyScales = [[1e9, "G$"], [1e6, "M$"], [1e3, "k$"], [1, "$"]];
const plainScales = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];
const energyScales = [[3.6e12, "GWh"], [3.6e9, "MWh"], [3.6e6, "kWh"], [1, "J"]];
const byteScales = [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [1, "B"]];
const si = (value) => {
  const [factor, prefix] = scaleFor([[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]], value);
  return digits(value / factor) + (prefix ? " " + prefix : "");
};

/** Lines no longer than a phone's tooltip. */
function wrapped(text, most = 44) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines[lines.length - 1];
    if (line && line.length + word.length >= most)
      lines.push(word);
    else
      lines[lines.length - 1] = line ? line + " " + word : word;
  }
  return lines;
}
