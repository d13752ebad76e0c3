import { isJsonObject } from "@millrace/core/json";
import type { Json, ToolCallPart } from "@millrace/core";

/**
 * Models of Mistral, by their names at Mistral, at gateways (`mistralai/…`), on Bedrock (`mistral.…`) and on
 * local servers: its API and its chat templates refuse a call id that is not nine letters and digits.
 */
const strict =
  /(?:^|[/._:-])(?:mistral|ministral|mixtral|codestral|devstral|magistral|pixtral|voxtral)/i;
const nine = /^[a-zA-Z0-9]{9}$/;

/**
 * The ids that calls are sent with. Some models depend on their own ids, signed details refer to them,
 * and some gateways keep a signature in them, so a call is sent with the vendor's id unless another
 * call of the request has it. An id that the model refuses becomes one that depends on nothing but
 * itself, so that a transcript that grows is sent with the same ids.
 */
export class WireIds {
  readonly #isStrict: boolean;
  readonly #used = new Set<string>();
  readonly #sent = new Map<string, string>();

  constructor(model: string) {
    this.#isStrict = strict.test(model);
  }

  /** Reserves and returns the id for a call. */
  take({ callId, opaque }: ToolCallPart): string {
    const given = givenId(opaque);
    const isFree = (id: string): boolean => !this.#used.has(id);
    let id: string = given !== undefined && isFree(given) ? given : callId;
    if (this.#isStrict) {
      for (let salt = 0; !nine.test(id) || !isFree(id); salt += 1) id = nineOf(callId, salt);
    }
    for (let number = 2; !isFree(id); number += 1) id = `${callId.slice(0, 32)}_${number}`;
    this.#used.add(id);
    this.#sent.set(callId, id);
    return id;
  }

  /** The id that a call was sent with. */
  of(callId: string): string {
    return this.#sent.get(callId) ?? callId;
  }
}

/** The vendor's id of a call, if it is not the call id. */
export function givenId(opaque: Json | undefined): string | undefined {
  const id = isJsonObject(opaque) ? opaque["id"] : undefined;
  return typeof id === "string" && id !== "" ? id : undefined;
}

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Nine letters and digits for a text: two hashes of 32 bits (FNV-1a), written in base 62. */
function nineOf(text: string, salt: number): string {
  let low = 0x811c9dc5 ^ salt;
  let high = 0x01000193 ^ salt;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit, 0x85ebca6b);
  }
  let rest = (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
  let id = "";
  while (id.length < 9) {
    id += digits[Number(rest % 62n)];
    rest /= 62n;
  }
  return id;
}
