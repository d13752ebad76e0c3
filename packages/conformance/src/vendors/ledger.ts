import type { JsonObject } from "@millrace/core";
import { VendorRefusal } from "./refusal.ts";
import type {
  CacheBill,
  DroppedThinking,
  StrictVendor,
  VendorHttpRequest,
  VendorHttpResponse,
} from "./vendor.ts";

/** Input tokens of one request. */
export interface Charge {
  readonly plain: number;
  readonly read: number;
  readonly write: number;
}

/** Records what a vendor refused, dropped and billed. */
export class Ledger {
  readonly refused: string[] = [];
  readonly dropped: DroppedThinking[] = [];
  #bill: CacheBill = { requests: 0, plain: 0, read: 0, write: 0, total: 0 };

  get bill(): CacheBill {
    return this.#bill;
  }

  charge({ plain, read, write }: Charge): void {
    const { requests, total, ...sums } = this.#bill;
    this.#bill = {
      requests: requests + 1,
      plain: sums.plain + plain,
      read: sums.read + read,
      write: sums.write + write,
      total: total + plain + read + write,
    };
  }
}

interface VendorParts {
  readonly ledger: Ledger;
  readonly respond: (
    request: VendorHttpRequest,
    reply: Parameters<StrictVendor["answer"]>[1],
  ) => VendorHttpResponse;
  /** The error's JSON, and headers beside its type. */
  readonly encodeError: (refusal: VendorRefusal) => ErrorBody;
}

interface ErrorBody {
  readonly body: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Makes a vendor of a function that throws its refusals. */
export function createVendor({ ledger, respond, encodeError }: VendorParts): StrictVendor {
  return {
    answer: (request, reply) => {
      try {
        return respond(request, reply);
      } catch (error) {
        if (!(error instanceof VendorRefusal)) throw error;
        ledger.refused.push(error.message);
        const { body, headers } = encodeError(error);
        return {
          status: error.status,
          headers: { "content-type": "application/json", ...headers },
          body: JSON.stringify(body),
        };
      }
    },
    refused: ledger.refused,
    dropped: ledger.dropped,
    get bill() {
      return ledger.bill;
    },
  };
}
