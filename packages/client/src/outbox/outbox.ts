import { hexOf, newKey } from "../http/requests.ts";
import type { Requests } from "../http/requests.ts";

/** Something that was sent to a session and has no answer yet. Plain JSON. */
export interface OutboxPost {
  /** The idempotency key: a repeat of it, from any page, is the same send. */
  readonly key: string;
  readonly sessionId: string;
  /**
   * Whom it was sent for, as the server names them: it is never sent for another user. Until the server has
   * named one, a mark: a hash of the token, which is not kept itself, or of the page.
   */
  readonly who: string;
  /** Below the session, such as `/inputs`. */
  readonly path: string;
  readonly body: unknown;
  /** When it was kept, in milliseconds since 1970: they are sent in this order. */
  readonly time: number;
}

/** Keeps what was sent until it is answered. `put` is done when it returns, or when its promise settles. */
export interface Outbox {
  /** In any order. */
  readonly load: () => readonly OutboxPost[] | Promise<readonly OutboxPost[]>;
  readonly put: (post: OutboxPost) => void | Promise<void>;
  readonly remove: (key: string) => void | Promise<void>;
}

/** Keeps nothing beyond this page: for programs, and for pages that must leave no trace. */
export function memoryOutbox(): Outbox {
  const posts = new Map<string, OutboxPost>();
  return {
    load: () => [...posts.values()],
    put: (post) => void posts.set(post.key, post),
    remove: (key) => void posts.delete(key),
  };
}

/** What of `localStorage` is used. */
export type TextStorage = Pick<Storage, "length" | "key" | "getItem" | "setItem" | "removeItem">;

const prefix = "millrace:outbox:";
/** An unanswered send that is older than this is dropped. */
const keepMs = 7 * 24 * 3_600_000;

/**
 * Keeps posts in `localStorage`, so that they survive a reload and a crash of the page. What does not fit
 * is not kept: it is still sent by this page. What can't be read, or is a week old, is removed.
 */
export function storageOutbox(storage: TextStorage, now: () => number = Date.now): Outbox {
  return {
    load: () => {
      const keys = Array.from({ length: storage.length }, (_, at) => storage.key(at) ?? "");
      return keys
        .filter((key) => key.startsWith(prefix))
        .flatMap((key) => {
          const post = read(storage.getItem(key));
          if (post !== undefined && now() - post.time < keepMs) return [post];
          storage.removeItem(key);
          return [];
        });
    },
    put: (post) => {
      try {
        storage.setItem(prefix + post.key, JSON.stringify(post));
      } catch {
        // Full, or not allowed.
      }
    },
    remove: (key) => storage.removeItem(prefix + key),
  };
}

function read(text: string | null): OutboxPost | undefined {
  try {
    const post = JSON.parse(text ?? "") as Partial<OutboxPost> | null;
    const texts = [post?.key, post?.sessionId, post?.who, post?.path];
    const isWhole = texts.every((each) => typeof each === "string") && Number.isFinite(post?.time);
    return isWhole ? (post as OutboxPost) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The outbox of one client. A post is kept only for a user whom the server has named: else the next user
 * of a browser would send it. Until the first answer it is kept under a mark, and given to the user whom
 * the server names in answer to a request of the same mark.
 */
export class ClientOutbox {
  readonly #outbox: Outbox;
  readonly #requests: Requests;
  readonly #pageId: string | undefined;
  readonly #unnamed = new Map<string, Omit<OutboxPost, "who">>();

  constructor(outbox: Outbox, requests: Requests, pageId: string | undefined) {
    this.#outbox = outbox;
    this.#requests = requests;
    this.#pageId = pageId;
  }

  put(post: Omit<OutboxPost, "who">): void {
    const { who } = this.#requests;
    if (who !== undefined) return quietly(() => this.#outbox.put({ ...post, who }));
    this.#unnamed.set(post.key, post);
    quietly(async () => {
      const mark = await this.#mark(await this.#requests.token());
      // It may have been answered meanwhile, or the user was named.
      if (mark !== undefined && this.#unnamed.has(post.key))
        await this.#outbox.put({ ...post, who: mark });
    });
  }

  remove(key: string): void {
    this.#unnamed.delete(key);
    quietly(() => this.#outbox.remove(key));
  }

  /**
   * The user of a token is known: keeps what waited, and returns what an earlier page has left for them, in
   * order.
   */
  async named(who: string, token: string | undefined): Promise<readonly OutboxPost[]> {
    const own = [...this.#unnamed.keys()]; // kept under a mark, by this page itself
    const left = await this.#load();
    for (const post of this.#unnamed.values()) quietly(() => this.#outbox.put({ ...post, who }));
    this.#unnamed.clear();
    const mark = await this.#mark(token).catch(() => undefined);
    return left
      .filter((post) => [who, mark].includes(post.who) && !own.includes(post.key))
      .toSorted((a, b) => a.time - b.time);
  }

  /** What stands for the user until the server names one. Undefined: nothing does, so nothing is kept. */
  async #mark(token: string | undefined): Promise<string | undefined> {
    const secret = token ?? this.#pageId;
    const { subtle } = crypto as Partial<Crypto>; // only in secure contexts
    if (secret === undefined || subtle === undefined) return undefined;
    const text = new TextEncoder().encode(`millrace ${this.#requests.base} ${secret}`);
    return `mark:${hexOf(new Uint8Array(await subtle.digest("SHA-256", text)))}`;
  }

  async #load(): Promise<readonly OutboxPost[]> {
    try {
      return await this.#outbox.load();
    } catch {
      return [];
    }
  }
}

const pageName = (base: string): string => `millrace:page:${base}`;

/**
 * Names this page where no token says whose it is. The name lasts over a reload and over nothing else: not
 * in other tabs, not in the page that a link or a form leads to, as a sign-in does, not after `forgetPage`.
 */
export function pageIdOf(base: string): string | undefined {
  try {
    const { sessionStorage, document } = globalThis as Partial<typeof globalThis>;
    if (sessionStorage === undefined || document === undefined) return undefined;
    const loads = performance.getEntriesByType("navigation") as { readonly type?: string }[];
    const earlier = loads[0]?.type === "reload" && sessionStorage.getItem(pageName(base));
    const id = earlier || newKey();
    sessionStorage.setItem(pageName(base), id);
    return id;
  } catch {
    return undefined; // A page that may not store.
  }
}

/** The next client of this page, or after its reload, may be another user's. */
export function forgetPage(base: string): void {
  quietly(() => sessionStorage.removeItem(pageName(base)));
}

/** Ignores failures: what an outbox fails to store is still sent by this page. */
function quietly(work: () => void | Promise<void>): void {
  try {
    Promise.resolve(work()).catch(() => undefined);
  } catch {
    // The same for one that throws at once.
  }
}
