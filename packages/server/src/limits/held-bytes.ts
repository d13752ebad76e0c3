import type { HeldBody } from "../http/read-body.ts";
import type { Identity } from "../http/identity.ts";
import { Problem } from "../http/problem.ts";
import type { ServerLimits } from "../http/route-limits.ts";

/**
 * Counts the bytes of large bodies that this process holds at once, by user and in all. A body that fits a control
 * route is not counted, so that a user whose uploads are slow can still stop a run: the rates bound those.
 */
export class HeldBytes {
  readonly #limits: ServerLimits;
  readonly #byUser = new Map<string, number>();
  #all = 0;

  constructor(limits: ServerLimits) {
    this.#limits = limits;
  }

  /** For one request of this user. Nothing is held yet. */
  open({ tenant, user }: Identity): HeldBody {
    const key = `${tenant.length}:${tenant}:${user}`;
    let held = 0;
    return {
      grow: (bytes) => {
        if (bytes <= held || bytes <= this.#limits.controlBytes) return;
        this.#admit(key, bytes - held);
        this.#add(key, bytes - held);
        held = bytes;
      },
      release: () => {
        this.#add(key, -held);
        held = 0;
      },
    };
  }

  #admit(key: string, more: number): void {
    const { heldBytesPerUser, heldBytesPerProcess } = this.#limits;
    if ((this.#byUser.get(key) ?? 0) + more > heldBytesPerUser) {
      const policy = "heldBytesPerUser";
      const detail = `more than ${heldBytesPerUser} bytes of bodies at once (${policy}): send one after the other`;
      throw new Problem("rate_limited", detail, { policy, retryAfter: 2 });
    }
    if (this.#all + more > heldBytesPerProcess) {
      const detail = "this process holds as many bytes of bodies as it takes: come back";
      throw new Problem("overloaded", detail, { retryAfter: 2 });
    }
  }

  #add(key: string, bytes: number): void {
    if (bytes === 0) return;
    this.#all += bytes;
    const left = (this.#byUser.get(key) ?? 0) + bytes;
    if (left === 0) this.#byUser.delete(key);
    else this.#byUser.set(key, left);
  }
}
