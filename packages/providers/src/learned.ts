import { isJsonObject } from "@millrace/core/json";
import type { Item, Transcript } from "@millrace/core";
import type { ModelResponse } from "@millrace/core/ports";

/**
 * What the answers of a vendor have shown about one model at one endpoint. It lasts as long as the model's
 * object, which applications make once.
 */
export class Learned {
  /** Features that the vendor refused, and that requests do without. */
  readonly off: Set<string> = new Set();
  readonly #endpoint: string;
  #organization: string | undefined;

  constructor(baseUrl: string) {
    this.#endpoint = digest(baseUrl.replace(/[?#].*$/, "").replace(/\/+$/, ""));
  }

  /** The response with the scope in the place of the organization, which is nobody else's business. */
  scoped(response: ModelResponse | undefined): ModelResponse {
    const { organization, ...rest } = response ?? {};
    if (organization !== undefined) this.#organization = digest(organization);
    const parts = [this.#endpoint, ...(organization === undefined ? [] : [digest(organization)])];
    return { ...rest, scope: parts.join(".") };
  }

  /**
   * The transcript with the items of another endpoint or organization as those of another model: what only
   * its vendor can read of them is refused here.
   */
  withoutForeign(transcript: Transcript, model: string): Transcript {
    const isForeign = (item: Item): boolean => item.model === model && !this.#isOwn(scopeOf(item));
    if (!transcript.some(isForeign)) return transcript;
    return transcript.map((item) =>
      isForeign(item) ? { ...item, model: `${model} elsewhere` } : item,
    );
  }

  /** An item without a scope is of an older version: it is sent. So is one where the organization is not known. */
  #isOwn(scope: string | undefined): boolean {
    if (scope === undefined) return true;
    const [endpoint, organization = this.#organization] = scope.split(".");
    if (endpoint !== this.#endpoint) return false;
    return this.#organization === undefined || organization === this.#organization;
  }
}

function scopeOf({ metadata }: Item): string | undefined {
  const response = metadata?.["response"];
  const scope = isJsonObject(response) ? response["scope"] : undefined;
  return typeof scope === "string" ? scope : undefined;
}

/** Eight hex digits (FNV-1a): it tells a few places apart, and gives none of them away. */
function digest(text: string): string {
  let hash = 0x811c9dc5;
  for (const character of text)
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
