import { formsOf } from "@millrace/core/secrets";
import { beforeSecret, secrets } from "../transport/redact.ts";

/**
 * Removes secrets from requests and responses. A stand-in has the same length in bytes, so that
 * offsets into a body stay valid, and is the same for the same secret.
 */
export class Redactor {
  readonly #secrets = new Set<string>();
  readonly #names = new Map<string, string>();
  readonly #patterns: readonly RegExp[];

  constructor(own: readonly (string | RegExp)[] = []) {
    for (const secret of own) if (typeof secret === "string") this.secret(secret);
    const patterns = own.flatMap((pattern) => (typeof pattern === "string" ? [] : [pattern]));
    this.#patterns = [...patterns, secrets].map(({ source, flags }) => {
      return new RegExp(source, flags.includes("g") ? flags : `${flags}g`);
    });
  }

  /** Registers a secret. It is removed everywhere, in all forms that `formsOf` knows. */
  secret(value: string): void {
    // A short word would occur in ordinary text.
    if (value.length < 8) return;
    for (const form of formsOf(value)) this.#secrets.add(binary(form));
  }

  /** A stand-in for the id of a request, an account or the like. Keeps its prefix. */
  name(value: string): string {
    const bytes = binary(value);
    const known = this.#names.get(bytes);
    if (known !== undefined) return known;
    const prefix = /^[a-z]{1,12}[-_]/i.exec(bytes)?.[0] ?? "";
    const room = Math.max(0, bytes.length - prefix.length);
    const number = String(this.#names.size + 1).padStart(room, "0");
    const standIn = `${prefix}${number.slice(number.length - room)}`;
    this.#names.set(bytes, standIn);
    return standIn;
  }

  text(text: string): string {
    return Buffer.from(this.#clean(binary(text)), "latin1").toString("utf8");
  }

  bytes(bytes: Uint8Array): Uint8Array {
    return Buffer.from(this.#clean(Buffer.from(bytes).toString("latin1")), "latin1");
  }

  /** Works on text in which each unit is one byte, so that no other byte can change. */
  #clean(text: string): string {
    let clean = text;
    // The longest first, because a secret may contain another.
    for (const secret of longestFirst(this.#secrets)) {
      clean = clean.replaceAll(secret, () => blank(secret));
    }
    for (const pattern of this.#patterns)
      clean = clean.replaceAll(pattern, (found) => blank(found));
    // Before the known secrets are replaced, or their stand-ins would be taken for ids.
    clean = clean.replaceAll(accountIds, (found) => this.name(found));
    for (const [value, standIn] of this.#names) {
      if (value.length >= 8) clean = clean.replaceAll(value, () => standIn);
    }
    return clean;
  }
}

const accountIds = new RegExp(`${beforeSecret}(?:org[-_]|proj_|req_)[A-Za-z0-9]{16,}`, "g");

function binary(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

function blank(secret: string): string {
  return "REDACTED".repeat(Math.ceil(secret.length / 8)).slice(0, secret.length);
}

function longestFirst(secrets: ReadonlySet<string>): readonly string[] {
  return [...secrets].toSorted((left, right) => right.length - left.length);
}
