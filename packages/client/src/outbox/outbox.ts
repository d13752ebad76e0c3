/** Something that was sent to a session and has no answer yet. Plain JSON. */
export interface KeptPost {
  /** The idempotency key: a repeat of it, from any page, is the same send. */
  readonly key: string;
  readonly sessionId: string;
  /** Whom it was sent for, as the server names them. It is never sent for another user. */
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
  readonly load: () => readonly KeptPost[] | Promise<readonly KeptPost[]>;
  readonly put: (post: KeptPost) => void | Promise<void>;
  readonly remove: (key: string) => void | Promise<void>;
}

/** Keeps nothing beyond this page: for programs, and for pages that must leave no trace. */
export function memoryOutbox(): Outbox {
  const posts = new Map<string, KeptPost>();
  return {
    load: () => [...posts.values()],
    put: (post) => void posts.set(post.key, post),
    remove: (key) => void posts.delete(key),
  };
}

/** What of `localStorage` is used. */
export type TextStorage = Pick<Storage, "length" | "key" | "getItem" | "setItem" | "removeItem">;

const prefix = "millrace:outbox:";
/** An unanswered send that is older than this is dropped: nobody expects it any more. */
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

function read(text: string | null): KeptPost | undefined {
  try {
    const post = JSON.parse(text ?? "") as Partial<KeptPost> | null;
    const texts = [post?.key, post?.sessionId, post?.who, post?.path];
    const isWhole = texts.every((each) => typeof each === "string") && Number.isFinite(post?.time);
    return isWhole ? (post as KeptPost) : undefined;
  } catch {
    return undefined;
  }
}
