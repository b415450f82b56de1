// Elements without a framework.

/** element("p.note", {id: "x", onclick}, "text", child, ...): null children are left out. */
export function element(what, properties = {}, ...children) {
  const [tag, ...classes] = what.split(".");
  const made = SVG_TAGS.has(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  if (classes.length > 0) made.setAttribute("class", classes.join(" "));
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "value") made.value = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return made;
}
const SVG_TAGS = new Set(["svg", "g", "rect", "line", "path", "circle", "polyline", "text"]);

export const byId = (id) => document.getElementById(id);

/** Replaces what stands in a place, and keeps the focus where an element of the same id took the old one's place. */
export function fill(place, ...children) {
  const focused = place.contains(document.activeElement) ? document.activeElement.id : "";
  place.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  if (focused) byId(focused)?.focus();
}

/** <details> that remembers, by its key, whether it was opened. */
const opened = new Set();
export function fold(key, title, ...children) {
  const made = element("details", {}, element("summary", {}, title), ...children);
  made.open = opened.has(key);
  made.addEventListener("toggle", () => (made.open ? opened.add(key) : opened.delete(key)));
  return made;
}

/** A table that scrolls by itself where the page is narrow; columns of numbers are named by `numeric`. */
export function table(caption, head, rows, numeric = []) {
  const kind = (i) => (numeric.includes(i) ? ".n" : "");
  return element(
      "div.scroll", {tabindex: 0, role: "region", "aria-label": caption},
      element("table", {}, element("caption.unseen", {}, caption),
              element("thead", {}, element("tr", {}, head.map((h, i) => element("th" + kind(i), {scope: "col"}, h)))),
              element("tbody", {}, rows.map((row) => element("tr", {}, row.map((cell, i) =>
                  i === 0 ? element("th", {scope: "row"}, cell) : element("td" + kind(i), {}, cell)))))));
}
