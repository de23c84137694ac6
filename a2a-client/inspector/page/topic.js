/** A list of listeners. */
export class Topic {
  #listeners = new Set();

  /** Adds a listener; the function returned removes it. */
  subscribe(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls every listener. */
  publish(...values) {
    for (const listener of [...this.#listeners]) listener(...values);
  }
}
