import { setTimeout as sleep } from "node:timers/promises";
import type { SessionRecord, SessionStore } from "@millrace/core/ports";
import type { OutageProxy } from "../kit/deployment/outage-proxy.ts";
import { readAgUi, readAiSdk, readCompletion, readResponse } from "../dialects/kit/read-replies.ts";
import type { ReadReply } from "../dialects/kit/read-replies.ts";
import { Random } from "../kit/random.ts";
import { HttpViewer } from "../web/kit/http-viewer.ts";
import { heartbeatMs } from "./nodes/chaos-agent.ts";
import { Pages } from "./pages.ts";
import { People } from "./people.ts";
import { readOn } from "./readers/reader.ts";
import type { DialectReader, Reading } from "./readers/reader.ts";
import type { Watched } from "./recovery.ts";

export interface CrowdOptions {
  readonly seed: number;
  readonly store: SessionStore;
  /** One before each web node, and one that takes them in turn. */
  readonly edges: readonly OutageProxy[];
  readonly front: OutageProxy;
  /** How many sessions people and pages have together. Each reader has one more. */
  readonly sessions: number;
  readonly pages: number;
  /** The pause of a person between two things: at least, and at most. */
  readonly pauseMs: readonly [number, number];
}

/** A library of each dialect. */
const readers: readonly (readonly [name: string, read: ReadReply])[] = [
  ["responses", readResponse],
  ["completions", readCompletion],
  ["ai-sdk", readAiSdk],
  ["ag-ui", readAgUi],
];

/** All that use a deployment: raw viewers and people, pages of our client, and a library of each dialect. */
export class Crowd implements Disposable {
  readonly people: People;
  readonly pages: Pages;
  readonly readings: Reading[] = [];
  /** Sessions of people and pages, each with a viewer that comes back to its place and one that reloads. */
  readonly watched: readonly (Watched & { readonly viewers: readonly HttpViewer[] })[];
  readonly #store: SessionStore;
  readonly #work = new AbortController();
  readonly #approve = new AbortController();
  readonly #leave = new AbortController();
  readonly #works: readonly Promise<void>[];
  readonly #reads: readonly Promise<void>[];
  readonly #approvals: Promise<void>;

  private constructor(
    { seed, store, edges, front, pages, pauseMs }: CrowdOptions,
    records: readonly SessionRecord[],
    dialects: readonly Omit<DialectReader, "url" | "left">[],
  ) {
    const addresses = edges.map(({ url }) => url);
    this.#store = store;
    this.watched = records.map((record) => {
      const viewers = [false, true].map((reloads) =>
        viewerOf(record.sessionId, addresses, reloads),
      );
      return { record, viewers };
    });
    const screens = new Map(
      this.watched.flatMap(({ record, viewers }) =>
        viewers.slice(0, 1).map((viewer) => [record.sessionId, viewer]),
      ),
    );
    const random = (add: number): Random => new Random(seed * 31 + add);
    this.people = new People({ addresses, random: random(1), screens, pauseMs });
    const sessions = records.map(({ sessionId }) => sessionId);
    this.pages = new Pages({ url: front.url, sessions, count: pages, random: random(2), pauseMs });
    const { signal } = this.#work;
    this.#works = [this.people.work(signal), this.pages.work(signal)];
    this.#approvals = this.people.approve(this.#approve.signal);
    this.#reads = dialects.map(async (reader, at) => {
      const reading: Reading = { name: reader.name, answers: 0, faults: [], open: undefined };
      this.readings.push(reading);
      const placed = { ...reader, url: front.url, left: this.#leave.signal };
      await readOn(placed, reading, random(10 + at), signal);
    });
  }

  static async gather(options: CrowdOptions): Promise<Crowd> {
    const { store, seed, sessions } = options;
    const make = (sessionId: string): Promise<SessionRecord> =>
      store.create({ sessionId, owner: "ann" });
    const names = Array.from({ length: sessions }, (_, at) => `s${seed}-${at}`);
    const dialects = readers.map(async ([name, read]) => {
      const { sessionId: session } = await make(`${name}-${seed}`);
      return { name, read, session };
    });
    return new Crowd(options, await Promise.all(names.map(make)), await Promise.all(dialects));
  }

  /** Of raw viewers. */
  get viewers(): readonly HttpViewer[] {
    return this.watched.flatMap(({ viewers }) => viewers);
  }

  /** People begin nothing more. */
  async rest(): Promise<void> {
    this.#work.abort();
    await Promise.all(this.#works);
  }

  /** Waits until everybody has what they were promised and sees all there is, at most so long. */
  async settle(limitMs: number): Promise<void> {
    const end = performance.now() + limitMs;
    while (performance.now() < end) {
      const isRead = this.readings.every(({ open }) => open === undefined);
      if (this.pages.given.areSettled && isRead && (await this.#areCurrent())) break;
      await sleep(50);
    }
    this.#approve.abort();
    await this.#approvals;
    if (this.readings.every(({ open }) => open === undefined)) await Promise.all(this.#reads);
  }

  /** Whether all pages show the last fact of each session. */
  async #areCurrent(): Promise<boolean> {
    const shown = this.pages.shown();
    for (const { record } of this.watched) {
      const head = await this.#store.head(record.uid);
      const own = shown.filter(({ id }) => id === record.sessionId);
      if (own.some(({ view }) => view.head !== head)) return false;
    }
    return true;
  }

  [Symbol.dispose](): void {
    this.#work.abort();
    this.#approve.abort();
    this.#leave.abort();
    for (const viewer of this.viewers) viewer[Symbol.dispose]();
    this.pages.close();
  }
}

function viewerOf(session: string, addresses: readonly string[], reloads: boolean): HttpViewer {
  let at = Math.floor(Math.random() * addresses.length);
  const url = (): string => {
    at += 1;
    return addresses[at % addresses.length] ?? "";
  };
  const silentMs = 3 * heartbeatMs;
  const options = { session, url, pauseMs: 200, silentMs, refusalIsFault: false, reloads };
  return new HttpViewer(options);
}
