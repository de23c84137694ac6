/** Fields, groups of choices and rows of pairs for forms. */

import { add, fill, h } from "./dom.js";
import { icon } from "./icons.js";

let nextId = 0;

/** Returns a control with its label and a line of help; `name` is its `data-field`. */
export function field(name, label, control, help) {
  control.id ||= `field-${(nextId += 1)}`;
  control.dataset.field ??= name;
  const note = help && h("span", { class: "help", id: `${control.id}-help` }, help);
  if (note) control.setAttribute("aria-describedby", note.id);
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control, note);
}

/** Returns a field of one line. */
export function textInput(props = {}) {
  return h("input", { type: "text", autocomplete: "off", spellcheck: "false", ...props });
}

/** Returns a field of several lines that grows with its text. */
export function textArea(props = {}) {
  const area = h("textarea", { rows: "2", spellcheck: "false", ...props });
  const grow = () => {
    area.style.height = "auto";
    if (area.scrollHeight > 0) area.style.height = `${Math.min(area.scrollHeight + 2, innerHeight * 0.45)}px`;
  };
  area.addEventListener("input", grow);
  area.grow = grow;
  return area;
}

/** Returns a list of choices, each `[value, words]`. */
export function select(options, props = {}) {
  const { value, ...rest } = props;
  return h(
    "select",
    rest,
    ...options.map(([key, words]) => h("option", { value: key, selected: key === value }, words)),
  );
}

/** Returns a check box with its label. */
export function checkBox(name, label, { checked = false, help, onChange, data } = {}) {
  const box = h("input", {
    type: "checkbox",
    checked,
    data: { field: name, ...data },
    onChange: onChange && (() => onChange(box.checked)),
  });
  const element = h("label", { class: "check" }, box, h("span", label, help && h("small", help)));
  element.box = box;
  return element;
}

/** Returns buttons of which one is pressed; rows are `[value, words]`. */
export function segments(name, label, rows, value, choose) {
  const group = h("div", { class: "segments", role: "group", "aria-label": label });
  group.setValue = (next) => {
    for (const button of group.children) button.setAttribute("aria-pressed", String(button.dataset.value === next));
  };
  add(
    group,
    rows.map(([key, words]) =>
      h(
        "button",
        {
          type: "button",
          data: { action: name, value: key },
          onClick: () => {
            group.setValue(key);
            choose(key);
          },
        },
        words,
      ),
    ),
  );
  group.setValue(value);
  return group;
}

/** Returns the button that closes the pane of details. */
export function closeButton(close) {
  return h(
    "button",
    {
      class: "icon-button",
      "aria-label": "Close",
      title: "Close (Esc)",
      data: { action: "close-detail" },
      onClick: close,
    },
    icon("close"),
  );
}

/** Returns the button that hides its form. */
export function cancelButton() {
  const hide = ({ currentTarget }) => {
    currentTarget.form.hidden = true;
  };
  return h("button", { type: "button", class: "quiet", onClick: hide }, "Cancel");
}

/** Returns tabs; rows are `[key, words]`. Arrow keys move between them. `panel` receives the content. */
export function tabs(label, rows, value, choose) {
  const list = h("div", { class: "tabs", role: "tablist", "aria-label": label });
  list.setValue = (next) => {
    for (const tab of list.children) {
      const selected = tab.dataset.value === next;
      tab.setAttribute("aria-selected", String(selected));
      tab.tabIndex = selected ? 0 : -1;
    }
  };
  list.setRows = (next, chosen) => {
    fill(
      list,
      next.map(([key, words]) =>
        h(
          "button",
          {
            type: "button",
            role: "tab",
            data: { action: "tab", value: key },
            onClick: () => {
              list.setValue(key);
              choose(key);
            },
          },
          words,
        ),
      ),
    );
    list.setValue(chosen);
  };
  list.addEventListener("keydown", (event) => {
    const all = [...list.children];
    const at = all.indexOf(document.activeElement);
    const to = {
      ArrowRight: (at + 1) % all.length,
      ArrowLeft: (at - 1 + all.length) % all.length,
      Home: 0,
      End: all.length - 1,
    }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    all[to].focus();
    all[to].click();
  });
  list.setRows(rows, value);
  return list;
}

/** Returns rows of name and value with buttons to add and remove; `pairs()` of the element reads them. */
export function pairRows(
  name,
  pairs = [],
  { namePlaceholder = "Name", valuePlaceholder = "Value", secret = false } = {},
) {
  const rows = h("div", { class: "pairs" });
  const element = h(
    "div",
    { class: "stack tight" },
    rows,
    h(
      "div",
      h(
        "button",
        {
          type: "button",
          class: "quiet",
          data: { action: `add-${name}` },
          onClick: () => addRow(["", ""]).querySelector("input").focus(),
        },
        icon("plus"),
        `Add ${name}`,
      ),
    ),
  );
  const addRow = ([key, value]) => {
    const row = h(
      "div",
      { class: "pair", data: { row: name } },
      textInput({
        value: key,
        placeholder: namePlaceholder,
        "aria-label": `${namePlaceholder} of ${name}`,
        class: "mono",
        data: { field: `${name}-name` },
      }),
      textInput({
        value,
        placeholder: valuePlaceholder,
        "aria-label": `${valuePlaceholder} of ${name}`,
        class: "mono",
        type: secret ? "password" : "text",
        data: { field: `${name}-value` },
      }),
      h(
        "button",
        {
          type: "button",
          class: "icon-button",
          "aria-label": `Remove ${name} ${key}`.trim(),
          data: { action: `remove-${name}` },
          onClick: () => row.remove(),
        },
        icon("close"),
      ),
    );
    rows.append(row);
    return row;
  };
  element.setPairs = (next) => {
    rows.replaceChildren();
    for (const pair of next) addRow(pair);
  };
  element.pairs = () =>
    [...rows.children]
      .map((row) => [...row.querySelectorAll("input")].map((input) => input.value))
      .filter(([key]) => key.trim() !== "");
  element.setPairs(pairs);
  return element;
}

/** Marks a control as wrong with a reason, or as right if there is none. Returns whether it is right. */
export function setWrong(control, reason) {
  const place = control.closest(".field") ?? control.parentElement;
  place.querySelector(":scope > .wrong")?.remove();
  if (!reason) {
    control.removeAttribute("aria-invalid");
    return true;
  }
  control.setAttribute("aria-invalid", "true");
  control.addEventListener("input", () => setWrong(control), { once: true });
  place.append(h("span", { class: "wrong", role: "alert" }, reason));
  return false;
}

/** Reads a control as JSON: `{ok, value}`; empty is `undefined`. A mistake is shown at the control. */
export function readJson(control, { object = false } = {}) {
  const text = control.value.trim();
  if (text === "") return { ok: setWrong(control), value: undefined };
  try {
    const value = JSON.parse(text);
    const isObject = value !== null && typeof value === "object" && !Array.isArray(value);
    if (object && !isObject) return { ok: setWrong(control, 'Expected a JSON object, like {"key": "value"}.') };
    return { ok: setWrong(control), value };
  } catch (error) {
    return { ok: setWrong(control, `This is not JSON: ${error.message}`) };
  }
}
