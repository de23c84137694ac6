/** Verdicts on a card: violations, signatures, and what parsers of each version see. */

import { fill, h } from "../dom.js";
import { field, textInput } from "../form.js";
import { sentence } from "../format.js";
import { icon } from "../icons.js";
import { jsonView } from "../json_view.js";
import { linkView } from "../markdown_view.js";

/** Returns the violations that the linter found, the gravest first. */
export function problemList(problems) {
  if (problems.length === 0)
    return h(
      "div",
      { class: "note-box good", data: { view: "problems" } },
      icon("check"),
      " The card keeps every rule of its protocol versions.",
    );
  const order = ["must", "should", "may"];
  const sorted = problems.toSorted((a, b) => order.indexOf(a.level) - order.indexOf(b.level));
  return h(
    "ul",
    { class: "problem-list", data: { view: "problems" } },
    ...sorted.map(({ level, path, problem, requirement, text, source }) =>
      h(
        "li",
        { data: { row: "problem", level } },
        h("span", { class: `pill ${TONES[level] ?? "plain"}` }, String(level).toUpperCase()),
        h(
          "div",
          { class: "grow" },
          h("p", { class: "problem-text peer" }, sentence(problem)),
          h("code", { class: "soft peer" }, path),
          (text || requirement) &&
            h(
              "p",
              { class: "rule" },
              text && h("span", { class: "peer" }, text),
              h("small", requirement, source && [" · ", linkView(source, "the sentence")]),
            ),
        ),
      ),
    ),
  );
}

/** Returns the verdicts on the signatures; `check(url)` judges them by other keys. */
export function signatureList(signatures, keys, check) {
  const url = textInput({
    type: "url",
    class: "mono",
    value: keys ?? "",
    placeholder: "https://agent.example/.well-known/jwks.json",
  });
  const submit = (event) => {
    event.preventDefault();
    check(url.value.trim() || undefined);
  };
  return h(
    "div",
    { class: "stack", data: { view: "signatures" } },
    signatures.length === 0 &&
      h(
        "div",
        { class: "note-box" },
        "The card is not signed. Anyone between the agent and its callers could have written it, unless the connection is trusted.",
      ),
    ...signatures.map(({ keyId, algorithm, keysUrl, verdict, form, message }) =>
      h(
        "section",
        { class: "panel line top signature", data: { row: "signature", verdict } },
        h("span", { class: `pill ${{ valid: "good", invalid: "bad" }[verdict] ?? "fair"}` }, verdict),
        h(
          "div",
          { class: "grow" },
          h("p", { class: "peer" }, message),
          h(
            "dl",
            { class: "facts" },
            ...[
              ["Key", keyId],
              ["Algorithm", algorithm],
              ["Form", form],
              ["Keys at", keysUrl],
            ]
              .filter(([, value]) => value)
              .map(([name, value]) => h("div", h("dt", name), h("dd", { class: "peer mono" }, value))),
          ),
        ),
      ),
    ),
    signatures.length > 0 &&
      h(
        "form",
        { class: "stack tight", onSubmit: submit },
        field(
          "keys",
          "Trusted keys",
          url,
          "URL of a JSON Web Key Set. Without it, only keys at the agent's own origin are read.",
        ),
        h("div", h("button", { type: "submit", data: { action: "verify" } }, "Verify")),
      ),
  );
}

/** Returns what the parser of each protocol version makes of the card. */
export function versionViews(views) {
  const versions = Object.entries(views);
  let chosen = versions.findLast(([, view]) => view.card)?.[0] ?? versions.at(-1)?.[0];
  const place = h("div");
  const list = h("div", { class: "view-list" });
  const show = () => {
    fill(
      list,
      versions.map(([version, view]) =>
        h(
          "button",
          {
            type: "button",
            class: "view-choice",
            "aria-pressed": String(version === chosen),
            data: { action: "view-version", value: version },
            onClick: () => {
              chosen = version;
              show();
              list.querySelector("[aria-pressed=true]").focus();
            },
          },
          h("b", version),
          view.card
            ? h("span", { class: "good-sign" }, icon("check"), "reads it")
            : h("span", { class: "bad-sign" }, icon("close"), "refuses it"),
        ),
      ),
    );
    const view = views[chosen];
    fill(
      place,
      view?.card
        ? h("div", { class: "body" }, h("div", { class: "body-place tall" }, jsonView(view.card, { open: 4 })))
        : h("div", { class: "note-box bad peer" }, view?.error ?? "no such version"),
    );
  };
  show();
  return h(
    "div",
    { class: "stack", data: { view: "versions" } },
    h(
      "p",
      { class: "help" },
      "A strict parser of each protocol version reads the same document. This is what it sees.",
    ),
    list,
    place,
  );
}

const TONES = { must: "bad", should: "fair", may: "plain" };
