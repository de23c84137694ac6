/** Editor of a card with the verdicts of the linter as one writes. */

import { debounce, fill, h } from "../dom.js";
import { count, prettyJson } from "../format.js";
import { copyButton, errorBox } from "../notice.js";
import { post } from "../requests.js";
import { problemList, versionViews } from "./verdicts.js";

/** Returns the editor, filled with a card. */
export function cardEditor(raw) {
  const text = h("textarea", {
    class: "mono card-text",
    spellcheck: "false",
    "aria-label": "Card as JSON",
    data: { field: "card" },
    value: prettyJson(raw) ?? raw,
  });
  const verdicts = h("div", { class: "stack" });
  const state = h("span", { class: "small soft", role: "status", data: { field: "verdict" } });
  const judge = async () => {
    if (prettyJson(text.value) === undefined) {
      state.textContent = "not JSON";
      try {
        JSON.parse(text.value);
      } catch (error) {
        fill(verdicts, h("div", { class: "note-box bad" }, `This is not JSON: ${error.message}`));
      }
      return;
    }
    try {
      const { problems, views } = await post("cards", { text: text.value });
      state.textContent = problems.length === 0 ? "keeps every rule" : count(problems.length, "problem");
      fill(verdicts, problemList(problems), versionViews(views));
    } catch (error) {
      fill(verdicts, errorBox(error));
    }
  };
  text.addEventListener("input", debounce(350, judge));
  judge();
  return h(
    "div",
    { class: "stack", data: { view: "editor" } },
    h("p", { class: "help" }, "A place to try changes: nothing is sent to the agent."),
    h(
      "div",
      { class: "card-editor" },
      h(
        "div",
        { class: "stack tight" },
        h(
          "div",
          { class: "line between" },
          state,
          copyButton(() => text.value),
        ),
        text,
      ),
      verdicts,
    ),
  );
}
