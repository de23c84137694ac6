/** Modal dialogs. */

import { h } from "./dom.js";
import { icon } from "./icons.js";

/**
 * Opens a modal dialog; the promise is fulfilled when it is closed. `content` receives the function that closes it.
 */
export function openDialog(title, content, { name, wide = false } = {}) {
  return new Promise((resolve) => {
    const close = () => dialog.close();
    const dialog = h(
      "dialog",
      { class: wide ? "wide" : undefined, "aria-labelledby": "dialog-title", data: { dialog: name } },
      h(
        "header",
        { class: "dialog-head" },
        h("h2", { id: "dialog-title" }, title),
        h(
          "button",
          { class: "icon-button", "aria-label": "Close", data: { action: "close-dialog" }, onClick: close },
          icon("close"),
        ),
      ),
      h("div", { class: "dialog-body" }, content(close)),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve();
    });
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) close();
    });
    document.body.append(dialog);
    dialog.showModal();
    dialog.querySelector("[autofocus], .dialog-body input, .dialog-body button")?.focus();
  });
}

/** Asks whether something is to be done; the promise gives the answer. */
export async function confirmDialog(title, text, action) {
  let answer = false;
  await openDialog(
    title,
    (close) => {
      const yes = () => {
        answer = true;
        close();
      };
      return [
        h("p", text),
        h(
          "div",
          { class: "line end" },
          h("button", { data: { action: "dialog-no" }, onClick: close }, "Keep"),
          h("button", { class: "danger", autofocus: true, data: { action: "dialog-yes" }, onClick: yes }, action),
        ),
      ];
    },
    { name: "confirm" },
  );
  return answer;
}
