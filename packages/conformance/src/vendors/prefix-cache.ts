import { digest, tokensOf } from "./json.ts";

/** How a vendor caches prefixes by itself, without marks in the request. */
export interface PrefixRules {
  /** Prefixes are cached in multiples of this number of tokens. */
  readonly step: number;
  /** The least number of tokens of a cached prefix. */
  readonly least: number;
}

/** The part of a prompt that is read from the cache, and what was added to it. */
export interface PrefixUse {
  readonly total: number;
  readonly read: number;
  readonly added: number;
}

/** Prefixes of earlier prompts, by exact text. */
export class PrefixCache {
  readonly #rules: PrefixRules;
  /** The time at which each prefix expires, by the chained hash of its steps. */
  readonly #expiry = new Map<string, number>();

  constructor(rules: PrefixRules) {
    this.#rules = rules;
  }

  /** Reads the longest cached prefix of a prompt and caches all of its prefixes. `scope` names the cache. */
  use(scope: string, prompt: string, { now, ttlMs }: { now: number; ttlMs: number }): PrefixUse {
    const { step, least } = this.#rules;
    const steps = Math.floor(prompt.length / (step * 4));
    let [chain, read, end] = [digest(scope), 0, 0];
    for (let at = 1; at <= steps; at++) {
      chain = digest(chain + prompt.slice((at - 1) * step * 4, at * step * 4));
      if (at * step < least) continue;
      const expires = this.#expiry.get(chain) ?? Number.NEGATIVE_INFINITY;
      if (expires > now) read = at * step;
      end = at * step;
      this.#expiry.set(chain, Math.max(expires, now + ttlMs));
    }
    return { total: tokensOf(prompt), read, added: end - read };
  }
}
