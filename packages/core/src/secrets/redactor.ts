import { formsOf } from "./forms.ts";

/** What stands in a text for a secret. */
const redacted = "[redacted]";

/** The fewest characters of a secret. A shorter one would be found in ordinary words. */
export const shortestSecret = 8;

/**
 * Finds a set of secrets in texts, in all their forms. Costs one step for each character of a text,
 * however many secrets there are: a rolling hash of eight characters is compared with the beginnings of
 * all forms, and only where one agrees is the text itself compared.
 */
export class Redactor {
  readonly #forms = new Map<string, readonly string[]>();
  /** The forms by the hash of their first characters. */
  readonly #starts = new Map<number, Start[]>();
  /** 1 where some form has a hash with these low bits. Saves nearly all look-ups in the map. */
  readonly #likely = new Uint8Array(2 ** 16);

  /** Forms that were deleted since `#likely` was made anew. Their marks are left, and cost look-ups. */
  #deleted = 0;

  has(secret: string): boolean {
    return this.#forms.has(secret);
  }

  /** Adds a secret of at least `shortestSecret` characters. */
  add(secret: string): void {
    if (this.has(secret)) return;
    const forms = formsOf(secret);
    this.#forms.set(secret, forms);
    this.#index(secret, forms);
  }

  delete(secret: string): void {
    const forms = this.#forms.get(secret) ?? [];
    this.#forms.delete(secret);
    for (const form of forms) {
      const hash = hashOf(form);
      const others = this.#starts.get(hash)?.filter((start) => start.secret !== secret) ?? [];
      if (others.length > 0) this.#starts.set(hash, others);
      else this.#starts.delete(hash);
    }
    this.#deleted += forms.length;
    if (this.#deleted < this.#likely.length / 4) return;
    this.#deleted = 0;
    this.#likely.fill(0);
    for (const hash of this.#starts.keys()) this.#likely[hash & 0xffff] = 1;
  }

  /**
   * The text with each secret replaced. Secrets that overlap become one replacement. A text that ends in
   * the first eight or more characters of a secret was cut there, and loses those too.
   */
  redact(text: string): string {
    let out = "";
    /** The text before this index is in `out`. */
    let copied = 0;
    /** The end of the secret that is being left out, or -1. */
    let until = -1;
    this.#search(text, (at, { form }) => {
      if (at > until) {
        if (until >= 0) {
          out += redacted;
          copied = until;
        }
        out += text.slice(copied, at);
      }
      until = Math.max(until, Math.min(text.length, at + form.length));
    });
    return until < 0 ? text : `${out}${redacted}${text.slice(until)}`;
  }

  /** The secrets that a text holds whole, each once. */
  find(text: string): ReadonlySet<string> {
    const found = new Set<string>();
    this.#search(text, (at, { form, secret }) => {
      if (at + form.length <= text.length) found.add(secret);
    });
    return found;
  }

  #index(secret: string, forms: readonly string[]): void {
    for (const form of forms) {
      const hash = hashOf(form);
      const same = this.#starts.get(hash);
      if (same === undefined) this.#starts.set(hash, [{ form, secret }]);
      else same.push({ form, secret });
      this.#likely[hash & 0xffff] = 1;
    }
  }

  /** Calls `match` for each form in the text, in the order of their places. */
  #search(text: string, match: (at: number, start: Start) => void): void {
    const last = text.length - shortestSecret;
    if (this.#starts.size === 0 || last < 0) return;
    let hash = hashOf(text);
    for (let at = 0; ; at += 1) {
      if (this.#likely[hash & 0xffff] === 1) {
        for (const start of this.#starts.get(hash) ?? []) {
          if (isAt(text, at, start.form)) match(at, start);
        }
      }
      if (at === last) return;
      const left = Math.imul(text.charCodeAt(at), highest);
      hash = (Math.imul(hash - left, base) + text.charCodeAt(at + shortestSecret)) | 0;
    }
  }
}

interface Start {
  readonly form: string;
  readonly secret: string;
}

const base = 0x01000193;
/** The factor of the first character of a hash. */
const highest = Array.from({ length: shortestSecret - 1 }).reduce<number>(
  (power) => Math.imul(power, base),
  1,
);

/** The hash of the first eight characters. */
function hashOf(text: string): number {
  let hash = 0;
  for (let at = 0; at < shortestSecret; at += 1) {
    hash = (Math.imul(hash, base) + text.charCodeAt(at)) | 0;
  }
  return hash;
}

/** True also if the text ends within the form. */
function isAt(text: string, at: number, form: string): boolean {
  const room = text.length - at;
  return room >= form.length ? text.startsWith(form, at) : form.startsWith(text.slice(at));
}
