// A model's config.json, picked or dropped: the engine reads it as a table that describes the model, and that table
// stands in the address like everything else.
import {element} from "./dom.js";

export class ConfigFile {
  /** read(file): whoever asks the engine. */
  constructor(read) {
    this.picker = element("input.unseen", {type: "file", accept: ".json,application/json", id: "config-file", tabindex: -1,
                                           "aria-label": "A config.json"});
    this.picker.addEventListener("change", () => {
      if (this.picker.files.length > 0) read(this.picker.files[0]);
      this.picker.value = "";
    });
    this.note = element("span.note", {}, "or drop one on this page");
    this.place = element("div.config", {},
                         element("button.small", {type: "button", id: "config-pick", onclick: () => this.picker.click()},
                                 "Read a config.json …"), this.picker, " ", this.note);
    addEventListener("dragover", (event) => {
      event.preventDefault();
      document.body.classList.add("dropping");
    });
    addEventListener("dragleave", () => document.body.classList.remove("dropping"));
    addEventListener("drop", (event) => {
      event.preventDefault();
      document.body.classList.remove("dropping");
      if (event.dataTransfer.files.length > 0) read(event.dataTransfer.files[0]);
    });
  }

  say(text) {
    this.note.textContent = text;
  }
}
