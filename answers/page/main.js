// Draws every chart, and again when light turns to dark or the page to paper.

const drawn = new Map();

function draw() {
  applyTheme();
  for (const canvas of document.querySelectorAll("canvas[data-chart]")) {
    if (drawn.has(canvas)) drawn.get(canvas).destroy();
    const config = charts[canvas.dataset.chart](canvas.dataset.at);
    if (config) {
      config.plugins = [marks, pointNames, stackNames];
      drawn.set(canvas, new Chart(canvas, config));
    } else {
      canvas.parentElement.hidden = true;
    }
  }
}

const closedBefore = new Set();
function toPaper() {
  if (root.classList.contains("printing")) return;
  root.classList.add("printing");
  for (const part of document.querySelectorAll("main details:not([open])")) {
    closedBefore.add(part);
    part.open = true;
  }
  draw();
}
function fromPaper() {
  if (!root.classList.contains("printing")) return;
  root.classList.remove("printing");
  for (const part of closedBefore) part.open = false;
  closedBefore.clear();
  draw();
}

draw();
performance.mark("charts drawn");
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
matchMedia("print").addEventListener("change", (event) => (event.matches ? toPaper() : fromPaper()));
addEventListener("beforeprint", toPaper);
addEventListener("afterprint", fromPaper);
