import { MillraceError } from "@millrace/core";
import type { Clock } from "@millrace/core/ports";
import type { BlobLike, Content } from "@millrace/core/reading";
import type { Answered, ProblemAnswer, Requests, RouteRequest } from "../http/requests.ts";
import type { ClientOutbox } from "../outbox/outbox.ts";
import { errorOf } from "../http/requests.ts";

/** Something on its way to the server. */
export interface Outgoing {
  readonly key: string;
  /** Below the session. */
  readonly path: string;
  readonly method?: "DELETE" | undefined;
  /** The body, or how it is made. It is made when its turn comes. */
  readonly body?: unknown;
  readonly makeBody?: (() => Promise<unknown>) | undefined;
  /** It may have arrived: an earlier page has left it. */
  posted?: boolean;
  /** What a screen shows of it meanwhile. */
  readonly shown?: { readonly kind: "prompt" | "steer" | "follow_up"; readonly text: string };
}

interface Entry extends Outgoing {
  readonly answered: Promise<Answered>;
  readonly settle: (answered: Answered) => void;
  posted: boolean;
  dropped: boolean;
}

/** What a sender needs. */
export interface SenderParts {
  readonly requests: Requests;
  readonly outbox: ClientOutbox;
  /** Of the session. */
  readonly id: string;
  readonly isNew: boolean;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onChange: () => void;
}

/** Posts what is sent to one session, one at a time and in order, and repeats each until it is answered. */
export class Sender {
  /** The session's address below the mount. */
  readonly path: string;
  readonly #parts: SenderParts;
  #entries: Entry[] = [];
  #works = false;
  /** True until the server is known to have the session. */
  #isNew: boolean;

  constructor(parts: SenderParts) {
    this.#parts = parts;
    this.#isNew = parts.isNew;
    this.path = `/v1/sessions/${encodeURIComponent(parts.id)}`;
  }

  /** Those that have no answer yet, in order. */
  get waiting(): readonly Readonly<Entry>[] {
    return this.#entries;
  }

  /** Resolves with the answer; refused as `aborted` if it was dropped, as `closed` with the client. */
  post(outgoing: Outgoing): Promise<Answered> {
    const { promise, resolve } = Promise.withResolvers<Answered>();
    if (this.#entries.some(({ key }) => key === outgoing.key)) {
      resolve(refused("key_reused", "this key is on its way already"));
      return promise;
    }
    const entry = { answered: promise, settle: resolve, dropped: false };
    this.#entries.push({ posted: false, ...outgoing, ...entry });
    if (outgoing.body !== undefined) this.#keep(outgoing, outgoing.body);
    this.#parts.onChange();
    if (!this.#works) void this.#work();
    return promise;
  }

  /** Drops one that can't have arrived. False: it may have. */
  drop(key: string): boolean {
    const entry = this.#entries.find((each) => each.key === key);
    if (entry === undefined || entry.posted) return false;
    entry.dropped = true;
    this.#done(entry, refused("aborted", "it was taken back before it was sent"));
    return true;
  }

  /** Uploads a file. The session is made first if there is none. */
  async upload(bytes: Uint8Array, mediaType: string): Promise<string> {
    const request = { body: bytes, headers: { "content-type": mediaType } };
    const path = `${this.path}/blobs`;
    let answered = await this.#ask(path, request);
    if (!answered.ok && answered.problem.status === 404) {
      const key = `create-${this.#parts.id}`.replaceAll(/[^A-Za-z0-9-]/g, "-").padEnd(16, "-");
      const made = await this.#create(key.slice(0, 128), undefined);
      if (made.ok || isTaken(made)) answered = await this.#ask(path, request);
    }
    if (!answered.ok) throw errorOf(answered.problem);
    return String(answered.json["hash"]);
  }

  async #work(): Promise<void> {
    this.#works = true;
    for (let [entry] = this.#entries; entry !== undefined; [entry] = this.#entries) {
      entry.posted = entry.makeBody === undefined;
      let answered: Answered;
      try {
        answered = await this.#deliver(entry);
      } catch (error) {
        // A file was refused. Else only its own signal ends a repetition, so the client is closed: what is
        // kept stays kept.
        answered = MillraceError.is(error)
          ? { ok: false, problem: error.cause as ProblemAnswer }
          : refused("closed", "the client is closed");
      }
      if (!entry.dropped) this.#done(entry, answered);
    }
    this.#works = false;
  }

  async #deliver(entry: Entry): Promise<Answered> {
    const { key, path, method } = entry;
    const body = entry.makeBody === undefined ? entry.body : await entry.makeBody();
    if (entry.dropped) return refused("aborted", "");
    entry.posted = true;
    if (entry.makeBody !== undefined) this.#keep(entry, body);
    const isInput = path === "/inputs";
    if (isInput && this.#isNew) {
      const made = await this.#create(key, body);
      if (!isTaken(made)) return made;
    }
    const headers = isInput ? { "idempotency-key": key } : undefined;
    const request = { method: method ?? "POST", body, headers };
    const answered = await this.#ask(this.path + path, request);
    if (!isInput || answered.ok || answered.problem.status !== 404) return answered;
    // A page may name any session; the first prompt makes it.
    const made = await this.#create(key, body);
    // Another page of this user has made it meanwhile, or the name is someone else's, which stays refused.
    return isTaken(made) ? await this.#ask(this.path + path, request) : made;
  }

  async #create(key: string, input: unknown): Promise<Answered> {
    const made = await this.#ask("/v1/sessions", {
      body: { id: this.#parts.id, input },
      headers: { "idempotency-key": key },
    });
    if (made.ok || isTaken(made)) this.#isNew = false;
    return made;
  }

  #ask(path: string, request: RouteRequest): Promise<Answered> {
    const { requests, signal } = this.#parts;
    return requests.untilAnswered(path, { ...request, signal });
  }

  #keep({ key, path, method }: Outgoing, body: unknown): void {
    if (method !== undefined) return;
    const { outbox, id, clock } = this.#parts;
    outbox.put({ key, sessionId: id, path, body, time: clock.now() });
  }

  #done(entry: Entry, answered: Answered): void {
    this.#entries = this.#entries.filter((each) => each !== entry);
    if (answered.ok || answered.problem.code !== "closed") this.#parts.outbox.remove(entry.key);
    entry.settle(answered);
    this.#parts.onChange();
  }
}

/** Whether the name of a session that was to be made is in use. */
function isTaken(made: Answered): boolean {
  return !made.ok && made.problem.code === "session_exists";
}

/** A refusal that no server gave. */
export function refused(code: string, detail: string): Answered {
  return { ok: false, problem: { status: 0, code, detail, retryable: false } };
}

/** Up to so many bytes go with the input itself. */
const inlineBytes = 32 * 1_024;

/** Uploads bytes to a session. Resolves to their hash. */
type Upload = (bytes: Uint8Array, mediaType: string) => Promise<string>;

/** What is sent of a content: at once if it is text, else after its files were read and uploaded. */
export function contentBody(content: Content, upload: Upload): object | Promise<object> {
  if (typeof content === "string") return { text: content };
  const parts = content.map((piece, at) =>
    typeof piece === "string" ? { kind: "text", text: piece } : filePart(piece, at, upload),
  );
  if (content.every((piece) => typeof piece === "string")) return { parts };
  return allOf(parts);
}

async function allOf(pieces: readonly (object | Promise<object>)[]): Promise<object> {
  return { parts: await Promise.all(pieces.map(async (piece) => await piece)) };
}

/** The text of a content, for the queue on a screen. */
export function textOf(content: Content): string {
  if (typeof content === "string") return content;
  return content.filter((piece) => typeof piece === "string").join("");
}

async function filePart(file: BlobLike, at: number, upload: Upload): Promise<object> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const mediaType = file.type === "" ? "application/octet-stream" : file.type;
  const source =
    bytes.length <= inlineBytes
      ? { bytes: btoa(String.fromCharCode(...bytes)) }
      : { blob: { hash: await upload(bytes, mediaType), size: bytes.length } };
  // As in process: images, audio and video are media, all else a file.
  if (/^(image|audio|video)\//.test(mediaType)) return { kind: "media", mediaType, ...source };
  return { kind: "file", name: file.name ?? `file-${at + 1}`, mediaType, ...source };
}
