/** Sharing, revoking, forking, delegating and removing in any order, against a table of who may do what. */
import { defineAgent, defineTool } from "@millrace/agent";
import type { Model } from "@millrace/core";
import { memorySessionStore } from "@millrace/core/memory";
import type { SessionStore } from "@millrace/core/ports";
import { call, say, scriptedModel } from "@millrace/core/testing";
import type { ScriptedPart } from "@millrace/core/testing";
import { aiSdk } from "@millrace/dialects/ai-sdk";
import { createMillrace } from "@millrace/server";
import { expect, it } from "vitest";
import { z } from "zod";
import { inParallel } from "../kit/in-parallel.ts";
import { patience } from "../kit/patience.ts";
import { Random } from "../kit/random.ts";
import { firstSeed, runs } from "../kit/runs.ts";
import { AccessModel, people } from "./kit/access-model.ts";
import type { Made, Person, Right } from "./kit/access-model.ts";

const rights: readonly Right[] = ["read", "send", "decide", "stop", "manage"];
const names = ["one", "two", "three", "four"];
const most = 1_000_000;

/** A sub-agent keeps a text of its session to itself. */
let notes = 0;
const note = defineTool({
  name: "note",
  description: "Notes",
  input: z.object({}),
  run: () => `NOTE-${(notes += 1)}-`,
});

/** Calls this tool first, if the prompt asks for it, and then says that it is done. */
function callingFirst(wanted: (text: string) => readonly ScriptedPart[]): Model {
  return {
    id: "test/model",
    stream: (request) => {
      const last = request.transcript.findLast(({ author }) => author === "user");
      const [asked] = last?.parts ?? [];
      const isAnswered = request.transcript.at(-1)?.author === "tool";
      const calls = isAnswered || asked?.kind !== "text" ? [] : wanted(asked.text);
      return scriptedModel([calls.length > 0 ? calls : [say("done")]]).stream(request);
    },
  };
}

const child = defineAgent({ model: callingFirst(() => [call("note", {})]), tools: [note] });
const agent = defineAgent({
  model: callingFirst((text) => (text === "help" ? [call("helper", { prompt: "x" })] : [])),
  tools: [child.asTool({ name: "helper", description: "Helps" })],
});

/** One history: a server, its table of who may do what, and the requests so far. */
class History implements AsyncDisposable {
  readonly model = new AccessModel();
  readonly random: Random;
  asked = 0;
  readonly #stores = new Map<string, SessionStore>();
  readonly #millrace = createMillrace({
    agent,
    dialects: [aiSdk()],
    store: (tenant) => this.#storeOf(tenant),
    authenticate: ({ headers }) =>
      people.find(({ token }) => headers.get("authorization") === `Bearer ${token}`),
    // As an application does it that keeps its shares in the metadata of sessions.
    authorize: ({ who, action, session, current }) => {
      const { tenant, owner, metadata } = current ?? session;
      if (tenant !== who.tenant) return false;
      if (action === "create" || action === "list" || owner === who.user) return true;
      const shares = metadata["shares"] as Made["shares"] | undefined; // only this test writes them
      return shares?.[who.user]?.includes(action) === true;
    },
    limits: {
      requestsPerUser: most,
      requestsPerTenant: most,
      creationsPerUser: most,
      inputsPerUser: most,
      notFoundPerUser: most,
    },
  });

  constructor(seed: number) {
    this.random = new Random(seed);
  }

  #storeOf(tenant: string): SessionStore {
    const store = this.#stores.get(tenant) ?? memorySessionStore();
    this.#stores.set(tenant, store);
    return store;
  }

  /** Sends a request, and checks that its answer shows nothing of sub-agents that are hidden from this person. */
  async ask(
    person: Person,
    path: string,
    body?: unknown,
    method?: string,
  ): Promise<[number, string]> {
    this.asked += 1;
    const answer = await this.#millrace.fetch(
      new Request(`http://localhost${path}`, {
        method: method ?? (body === undefined ? "GET" : "POST"),
        headers: {
          authorization: `Bearer ${person.token}`,
          prefer: "wait=5",
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          "idempotency-key": `key-0123456789-${this.asked}`,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
    const text = await answer.text();
    for (const hidden of this.model.hidden(person))
      if (text.includes(hidden))
        throw new Error(`${person.token} ${path} shows ${hidden}: ${text}`);
    return [answer.status, text];
  }

  /** Sends a request whose status the table knows. */
  async expect(
    person: Person,
    status: number,
    path: string,
    body?: unknown,
    method?: string,
  ): Promise<string> {
    const [got, text] = await this.ask(person, path, body, method);
    const shown = `${person.token} ${method ?? ""} ${path} ${JSON.stringify(body)} ${text.slice(0, 200)}`;
    expect(got, shown).toBe(status);
    return text;
  }

  /** A session, or a sub-agent's, of any tenant, or a name that is free. */
  anyName(): string {
    const made = this.model.all.flatMap(({ name, children }) => [name, ...children.keys()]);
    return this.random.pick([...names, ...made]);
  }

  async create(person: Person): Promise<void> {
    const { tenant, user: owner } = person;
    const name = this.random.pick(names);
    const isTaken = this.model.find(tenant, name) !== undefined;
    const shares = this.random.chance(0.5) ? this.#shares() : {};
    const body = { id: name, metadata: { shares } };
    await this.expect(person, isTaken ? 409 : 201, "/v1/sessions", body);
    if (!isTaken) this.model.make({ tenant, name, owner, shares });
  }

  #shares(): Made["shares"] {
    const { user } = this.random.pick(people);
    const share = this.random.pick([0, 0.5, 0.9]);
    return { [user]: rights.filter(() => this.random.chance(share)) };
  }

  /** Shares and revokes. */
  async share(person: Person): Promise<void> {
    const name = this.anyName();
    const made = this.model.find(person.tenant, name);
    const shares = this.#shares();
    const isChild = made !== undefined && made.name !== name;
    const status = this.model.status(person, "manage", name, 200);
    const path = `/v1/sessions/${name}`;
    await this.expect(person, status, path, { metadata: { shares } }, "PATCH");
    // Shares in a sub-agent's session are nobody's business: access to it is its root's.
    if (status === 200 && made !== undefined && !isChild)
      made.shares = { ...made.shares, ...shares }; // a patch is merged
  }

  async fork(person: Person): Promise<void> {
    const source = this.anyName();
    const made = this.model.find(person.tenant, source);
    const store = this.#storeOf(person.tenant);
    const record = await store.find(source);
    const facts = record === undefined ? [] : await store.read(record.uid);
    const last = facts.findLast(
      (fact) => fact.type === "item_committed" && fact.item.author === "model",
    );
    const itemId = last?.type === "item_committed" ? last.item.id : "item_x";
    const name = this.random.pick(names);
    const mayRead = this.model.may(person, "read", source);
    const isTaken = this.model.find(person.tenant, name) !== undefined;
    const [status] = await this.ask(person, `/v1/sessions/${source}/forks`, {
      itemId,
      id: name,
      metadata: {},
    });
    if (!mayRead || made === undefined) return expect(status).toBe(404);
    const nothingSaid = 422;
    if (isTaken) return expect([409, nothingSaid]).toContain(status);
    expect([201, nothingSaid]).toContain(status);
    if (status !== 201) return undefined;
    const { tenant, user: owner } = person;
    return void this.model.make({ tenant, name, owner, shares: {} });
  }

  /** Sends a prompt, for which the agent may ask a sub-agent. */
  async send(person: Person): Promise<void> {
    const name = this.anyName();
    const made = this.model.find(person.tenant, name);
    const status = this.model.status(person, "send", name, 202);
    const body = { kind: "prompt", text: this.random.chance(0.6) ? "help" : "hello" };
    const [got, text] = await this.ask(person, `/v1/sessions/${name}/inputs`, body);
    // A sub-agent's session takes no prompts of people.
    const isChild = made !== undefined && made.name !== name;
    if (isChild && status === 202) expect([403, 409]).toContain(got);
    else expect(got === 200 ? 202 : got, `${person.token} ${name} ${text}`).toBe(status);
    await this.#noteChildren(person.tenant);
  }

  /** Tells the table of the sub-agents' sessions that the store has now. */
  async #noteChildren(tenant: string): Promise<void> {
    const store = this.#storeOf(tenant);
    for (const { sessionId, parent, uid } of await store.list()) {
      const made = parent && this.model.find(tenant, parent.sessionId);
      if (made === undefined || made.children.has(sessionId)) continue;
      const noted = JSON.stringify(await store.read(uid)).match(/NOTE-\d+-/)?.[0];
      made.children.set(sessionId, noted ?? sessionId);
    }
  }

  async remove(person: Person): Promise<void> {
    const name = this.random.pick(names);
    const made = this.model.find(person.tenant, name);
    const status = this.model.status(person, "manage", name, 204);
    await this.expect(person, status, `/v1/sessions/${name}`, undefined, "DELETE");
    if (status === 204 && made !== undefined) made.isRemoved = true;
  }

  /** Asks for everything about one session. */
  async probe(person: Person): Promise<void> {
    const name = this.anyName();
    const path = `/v1/sessions/${name}`;
    const read = this.model.status(person, "read", name, 200);
    for (const route of [
      "",
      "/items",
      "/snapshot",
      "/approvals?deep=true",
      "/export?format=markdown",
    ])
      await this.expect(person, read, `${path}${route}`);
    await this.expect(person, read, `/ai-sdk/${name}`);
    const whole = await this.expect(person, read, `${path}/export?format=jsonl&children=true`);
    const made = this.model.find(person.tenant, name);
    if (read === 200 && made?.name === name)
      for (const noted of made.children.values()) expect(whole).toContain(noted);
    const stop = this.model.status(person, "stop", name, 200);
    const [stopped] = await this.ask(person, `${path}/abort`, {});
    expect(stopped === 202 ? 200 : stopped).toBe(stop); // 202: on a busy machine a run may still be on
    const decide = this.model.status(person, "decide", name, 404);
    await this.expect(person, decide, `${path}/approvals/none`, { decision: "allow" });
    await this.expect(person, decide, `${path}/answers`, { callId: "none", output: 1 });
    const manage = this.model.status(person, "manage", name, 200);
    await this.expect(person, manage, path, { title: "t" }, "PATCH");
  }

  /** A list has what one may read, and nothing else. */
  async list(person: Person): Promise<void> {
    const [, text] = await this.ask(person, "/v1/sessions");
    const { sessions } = JSON.parse(text) as { sessions: { id: string }[] };
    for (const { id } of sessions) expect(this.model.may(person, "read", id), id).toBe(true);
    const own = this.model.all.filter(
      ({ isRemoved, tenant, owner }) =>
        !isRemoved && tenant === person.tenant && owner === person.user,
    );
    expect(sessions.map(({ id }) => id)).toEqual(
      expect.arrayContaining(own.map(({ name }) => name)),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#millrace.close({ drainMs: 0 });
  }
}

const steps = [
  "create",
  "create",
  "share",
  "share",
  "fork",
  "send",
  "send",
  "remove",
  "probe",
  "probe",
  "probe",
  "list",
] as const;

it(
  "an independent table of who may do what agrees with every answer",
  { timeout: patience * 4 },
  async () => {
    const count = runs(2_000, 10_000, 200);
    let asked = 0;
    const one = async (seed: number): Promise<void> => {
      await using history = new History(seed);
      try {
        for (let step = 0; step < 16; step += 1)
          await history[history.random.pick(steps)](history.random.pick(people));
      } catch (error) {
        const shown = `history ${seed}, after ${history.asked} requests: ${String(error)}`;
        throw new Error(shown, { cause: error });
      }
      asked += history.asked;
    };
    const histories = Array.from({ length: count }, (_, at) => () => one(firstSeed + at));
    // Refusals take a while, so that their time shows nothing: many histories wait for theirs at once.
    await inParallel(histories, 50);

    console.log(
      `count: ${count} histories from seed ${firstSeed}, ${asked} requests, 0 differ from the table`,
    );
  },
);
