import type { Requests } from "../http/requests.ts";
import type { KeptPost, Outbox } from "./outbox.ts";

/**
 * The outbox of one client. A post is kept only for a user whom the server has named: else the next user
 * of a browser would send it. Until the first answer posts wait here, in memory.
 */
export class KeptPosts {
  readonly #outbox: Outbox;
  readonly #requests: Requests;
  readonly #unnamed = new Map<string, Omit<KeptPost, "who">>();

  constructor(outbox: Outbox, requests: Requests) {
    this.#outbox = outbox;
    this.#requests = requests;
  }

  put(post: Omit<KeptPost, "who">): void {
    const { who } = this.#requests;
    if (who === undefined) this.#unnamed.set(post.key, post);
    else quietly(() => this.#outbox.put({ ...post, who }));
  }

  remove(key: string): void {
    this.#unnamed.delete(key);
    quietly(() => this.#outbox.remove(key));
  }

  /** The user is known: keeps what waited, and returns what an earlier page has left for them, in order. */
  async named(who: string): Promise<readonly KeptPost[]> {
    const left = await this.#load();
    for (const post of this.#unnamed.values()) quietly(() => this.#outbox.put({ ...post, who }));
    this.#unnamed.clear();
    return left.filter((post) => post.who === who).toSorted((a, b) => a.time - b.time);
  }

  async #load(): Promise<readonly KeptPost[]> {
    try {
      return await this.#outbox.load();
    } catch {
      return [];
    }
  }
}

/** An outbox that fails keeps nothing, and stops nobody from sending. */
function quietly(work: () => void | Promise<void>): void {
  try {
    Promise.resolve(work()).catch(() => undefined);
  } catch {
    // As said.
  }
}
