import type { SessionState } from "@millrace/core";
import type { Followed } from "@millrace/core/reading";
import type { Encoder, Encoding, SharedEncoder } from "../encoding/encoding.ts";

/** The encodings that the deliveries of one room use now. */
export class Encoders {
  readonly #inUse = new Map<string, { readonly shared: SharedEncoder; users: number }>();

  /** Counts a delivery in. */
  open(encoding: Encoding): Encoder {
    const known = this.#inUse.get(encoding.name) ?? { shared: encoding.share(), users: 0 };
    this.#inUse.set(encoding.name, known);
    known.users += 1;
    return known.shared.open();
  }

  drop({ name }: Encoding): void {
    const known = this.#inUse.get(name);
    if (known === undefined) return;
    known.users -= 1;
    if (known.users === 0) this.#inUse.delete(name);
  }

  /** Passes on a message with the state before it. Returns its bytes in the largest form. */
  applied(before: SessionState | undefined, followed: Followed): number {
    let bytes = 0;
    for (const { shared } of this.#inUse.values())
      bytes = Math.max(bytes, shared.applied(before, followed));
    return bytes;
  }
}
