/** Decoder of Server-Sent Events (WHATWG HTML §9.2.6). */

/** Incremental decoder: text in, whole events out. */
export class EventDecoder {
  #rest = "";
  #data = [];
  #event = "";
  #id;
  #started = false;

  /** Adds text and returns the events that it completes, each `{event, id, data}`. */
  push(text) {
    if (!this.#started && text.length > 0) {
      this.#started = true;
      if (text.charCodeAt(0) === BOM) text = text.slice(1);
    }
    const events = [];
    let buffer = this.#rest + text;
    // A final CR may be the first half of CR LF.
    const held = buffer.endsWith("\r") ? "\r" : "";
    if (held) buffer = buffer.slice(0, -1);
    const lines = buffer.split(/\r\n|\n|\r/);
    this.#rest = lines.pop() + held;
    for (const line of lines) {
      const event = this.#line(line);
      if (event) events.push(event);
    }
    return events;
  }

  #line(line) {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) return undefined;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#event = value;
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    return undefined;
  }

  #dispatch() {
    const [data, event] = [this.#data, this.#event];
    [this.#data, this.#event] = [[], ""];
    return data.length === 0 ? undefined : { event: event || "message", id: this.#id, data: data.join("\n") };
  }
}

const BOM = 0xfeff;
