/** Forms for tasks that wait for input or authorization. */

import { h } from "../dom.js";
import { field, readJson, select, setWrong, textArea, textInput } from "../form.js";
import { icon } from "../icons.js";
import { isWebUrl } from "../markdown.js";
import { linkView } from "../markdown_view.js";
import { href } from "../router.js";
import { textOf } from "./conversation.js";

/** Returns the form for a task: fields if the agent sent a JSON schema, else a line of text. */
export function requestForm(task, actions) {
  const parts = task.status.message?.parts ?? [];
  return task.status.state === "TASK_STATE_AUTH_REQUIRED"
    ? authForm(task, parts, actions)
    : inputForm(task, parts, actions);
}

/** Returns the JSON schema of an object in a data part, under the names that agents use for it. */
export function schemaOf(parts) {
  for (const { data } of parts) {
    if (data === null || typeof data !== "object") continue;
    for (const candidate of [data, data.schema, data.form, data.requestedSchema, data.inputSchema, data.input_schema]) {
      const properties = candidate?.properties;
      if (properties && typeof properties === "object" && Object.keys(properties).length > 0) {
        return {
          properties,
          required: Array.isArray(candidate.required) ? candidate.required : [],
          initial: data.form_data ?? data.formData ?? {},
        };
      }
    }
  }
  return undefined;
}

function inputForm(task, parts, actions) {
  const schema = schemaOf(parts);
  const send = h("button", { class: "primary", type: "submit", data: { action: "answer" } }, "Answer");
  if (!schema) {
    const text = textArea({ "aria-label": "Answer", placeholder: "Your answer", data: { field: "answer" } });
    const submit = (event) => {
      event.preventDefault();
      if (text.value.trim()) actions.answer(task, [{ text: text.value }]);
    };
    text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
    });
    return h(
      "form",
      { class: "request", onSubmit: submit, data: { form: "input-required" } },
      h("p", { class: "request-title" }, icon("chat"), "The agent waits for your input"),
      h("div", { class: "line top" }, text, send),
    );
  }
  const rows = Object.entries(schema.properties)
    .slice(0, MAX_FIELDS)
    .map(([name, property]) => schemaField(name, property ?? {}, schema.required.includes(name), schema.initial[name]));
  const submit = (event) => {
    event.preventDefault();
    const read = rows.map(({ read }) => read());
    const wrong = read.findIndex(({ ok }) => !ok);
    if (wrong >= 0) return rows[wrong].control.focus();
    const data = Object.fromEntries(
      rows.flatMap(({ name }, index) => (read[index].value === undefined ? [] : [[name, read[index].value]])),
    );
    actions.answer(task, [{ data }]);
  };
  return h(
    "form",
    { class: "request", onSubmit: submit, data: { form: "input-required" } },
    h("p", { class: "request-title" }, icon("chat"), "The agent waits for your input"),
    h("div", { class: "fields" }, ...rows.map(({ element }) => element)),
    h("div", { class: "line" }, send),
  );
}

/** Returns the field of one property: `{name, element, control, read() → {ok, value}}`. */
function schemaField(name, property, required, initial) {
  const { type, title, description, format } = property;
  const value = initial ?? property.default;
  const options = property.enum ?? property.oneOf?.map((one) => one.const);
  const label = `${title ?? name}${required ? "" : " (optional)"}`;
  const need = (control, empty, result) => {
    const ok = setWrong(control, required && empty ? "The agent needs this value." : "");
    return { ok, value: empty ? undefined : result };
  };
  if (type === "boolean") {
    const control = h("input", { type: "checkbox", checked: value === true, data: { field: name } });
    return {
      name,
      control,
      read: () => ({ ok: true, value: control.checked }),
      element: h(
        "label",
        { class: "check" },
        control,
        h("span", title ?? name, description && h("small", description)),
      ),
    };
  }
  if (Array.isArray(options)) {
    const control = select([["", "Choose…"], ...options.map((one) => [JSON.stringify(one), String(one)])], {
      value: value === undefined ? "" : JSON.stringify(value),
    });
    return {
      name,
      control,
      element: field(name, label, control, description),
      read: () => need(control, control.value === "", control.value && JSON.parse(control.value)),
    };
  }
  if (type === "number" || type === "integer") {
    const control = textInput({
      type: "number",
      step: type === "integer" ? "1" : "any",
      min: property.minimum,
      max: property.maximum,
      value: value ?? "",
    });
    return {
      name,
      control,
      element: field(name, label, control, description),
      read: () => need(control, control.value === "", Number(control.value)),
    };
  }
  if (type === "object" || type === "array") {
    const control = textArea({
      class: "mono",
      placeholder: type === "array" ? "[]" : "{}",
      value: value === undefined ? "" : JSON.stringify(value),
    });
    return {
      name,
      control,
      element: field(name, `${label}, as JSON`, control, description),
      read: () => {
        const read = readJson(control);
        return read.ok && read.value === undefined ? need(control, true) : read;
      },
    };
  }
  const kind =
    { date: "date", email: "email", uri: "url", time: "time", "date-time": "datetime-local", password: "password" }[
      format
    ] ?? "text";
  const control =
    (property.maxLength ?? 0) > 200 || format === "textarea"
      ? textArea({ value: value ?? "" })
      : textInput({ type: kind, value: value ?? "" });
  return {
    name,
    control,
    element: field(name, label, control, description),
    read: () => need(control, control.value === "", control.value),
  };
}

function authForm(task, parts, actions) {
  const links = linksIn(parts);
  const text = textArea({
    "aria-label": "Answer to the agent",
    placeholder: "A code or a word for the agent, if it asks for one",
    data: { field: "answer" },
  });
  const submit = (event) => {
    event.preventDefault();
    actions.answer(task, [{ text: text.value.trim() || "Authorized." }]);
  };
  return h(
    "form",
    { class: "request", onSubmit: submit, data: { form: "auth-required" } },
    h("p", { class: "request-title" }, icon("lock"), "The agent waits for your authorization"),
    links.length > 0 &&
      h("ul", { class: "stack tight" }, ...links.map((link) => h("li", icon("external"), " ", linkView(link)))),
    h(
      "p",
      { class: "help" },
      "Sign in where the agent says. It then goes on by itself, or after your message. If it needs other credentials with each request, ",
      h("a", { href: href("connect") }, "connect again with them"),
      ".",
    ),
    h("div", { class: "line top" }, text),
    h(
      "div",
      { class: "line wrap" },
      h("button", { class: "primary", type: "submit", data: { action: "answer" } }, "I have signed in"),
      h(
        "button",
        { type: "button", data: { action: "wait" }, onClick: () => actions.resume(task) },
        "Wait for the agent",
      ),
    ),
  );
}

/** Returns the web addresses in the texts and the data of parts. */
function linksIn(parts) {
  const found = new Set();
  const text = `${textOf(parts)} ${parts.map(({ data }) => (data === undefined ? "" : JSON.stringify(data))).join(" ")}`;
  for (const [link] of text.slice(0, 100_000).matchAll(/https?:\/\/[^\s"'<>\\)]+/g)) {
    if (isWebUrl(link) && found.size < 8) found.add(link.replace(/[.,;]+$/, ""));
  }
  return [...found];
}

const MAX_FIELDS = 64;
