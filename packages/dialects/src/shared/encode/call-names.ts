/** The names of a run's calls for a reader that finds a call by its name alone: ids may come again in later items. */
export class CallNames {
  readonly #holders = new Map<string, string>();

  /** A call's own id, unless an earlier item has a call of that id. */
  nameOf(callId: string, itemId: string): string {
    let name = callId;
    for (let count = 2; (this.#holders.get(name) ?? itemId) !== itemId; count += 1)
      name = `${callId}~${count}`;
    this.#holders.set(name, itemId);
    return name;
  }

  /** Gives a name free: its call was taken back. */
  free(name: string): void {
    this.#holders.delete(name);
  }
}

/** The id of the call with this name. */
export function callIdOf(name: string): string {
  return name.replace(/~\d+$/, "");
}
