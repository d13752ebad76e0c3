import { equalJson } from "@millrace/core/json";
import type { Json } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";

type Beginning = Pick<ModelRequest, "instructions" | "tools" | "updates" | "transcript">;

interface Sent {
  readonly request: Beginning;
  readonly breaks: number;
}

/**
 * Whether each request begins with all of the one whose reply was kept last. Requests are made of facts, so
 * they do, unless a fact says otherwise or the application's hook changes them. Compares by identity first:
 * items that did not change are the same objects.
 */
export class SentPrefix {
  #sent: Sent | undefined;
  #kept: Sent | undefined;

  /** What is not as it was sent before, for people. `breaks` counts the facts that say so already. */
  changeIn(request: Beginning, breaks: number): string | undefined {
    return this.#kept?.breaks === breaks ? firstChange(this.#kept.request, request) : undefined;
  }

  sends(request: Beginning, breaks: number): void {
    this.#sent = { request, breaks };
  }

  /** The reply to what was sent last is stored. */
  keep(): void {
    this.#kept = this.#sent;
  }
}

function firstChange(before: Beginning, now: Beginning): string | undefined {
  if (before.instructions !== now.instructions) return "the instructions";
  if (!isSame(before.tools, now.tools)) return "the tools";
  const item = changedAt(before.transcript, now.transcript);
  if (item !== undefined) return `item ${item.id}`;
  const update = changedAt(before.updates ?? [], now.updates ?? []);
  return update === undefined ? undefined : `what changes behind item ${update.after}`;
}

/** The first row of the former that the latter does not have in its place. */
function changedAt<T>(before: readonly T[], now: readonly T[]): T | undefined {
  return before.find((row, at) => !isSame(row, now[at]));
}

/** Plain data, and bytes, of which the same array holds the same. */
function isSame(left: unknown, right: unknown): boolean {
  return left === right || equalJson(left as Json, right as Json);
}
