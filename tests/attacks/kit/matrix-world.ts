import { defineAgent, defineTool } from "@millrace/agent";
import type { Model } from "@millrace/core";
import { memoryBlobs, memorySessionStore } from "@millrace/core/memory";
import type { BlobStore, SessionRecord, SessionStore } from "@millrace/core/ports";
import { call, say, scriptedModel } from "@millrace/core/testing";
import type { ScriptedPart } from "@millrace/core/testing";
import { agUi } from "@millrace/dialects/ag-ui";
import { aiSdk } from "@millrace/dialects/ai-sdk";
import { openai } from "@millrace/dialects/openai";
import { createMillrace } from "@millrace/server";
import type { Identity, Millrace } from "@millrace/server";
import { vi } from "vitest";
import { z } from "zod";
import {
  callNameOf,
  nameOf,
  responsePrefix,
} from "../../../packages/dialects/src/openai/encode/response-id.ts";
import { patience } from "../../kit/patience.ts";

/** In all that is Ann's, and in nothing that anyone else sends. */
export const secret = "SECRET-4711";

/** Who asks, by the token. */
const people: Readonly<Record<string, Identity>> = {
  ann: { tenant: "t1", user: "ann" },
  bob: { tenant: "t1", user: "bob" },
  rita: { tenant: "t1", user: "rita" },
  fred: { tenant: "t1", user: "fred" },
  eve: { tenant: "t2", user: "eve" },
  otherAnn: { tenant: "t2", user: "ann" },
  adm: { tenant: "t1", user: "adm", roles: ["admin"] },
};

/** A session of Ann's, or one of its sub-agents', and what an attacker may know of it. */
export interface Target {
  readonly id: string;
  readonly hash: string;
  readonly itemId: string;
  readonly runId: string;
  readonly inputId: string;
  readonly approvalId: string;
  readonly callId: string;
  readonly cursor: string;
  /** Names of the OpenAI dialect, which are made of what is known. */
  readonly response: string;
  readonly callName: string;
  readonly tickets: Readonly<Record<string, string>>;
}

/** A request of the matrix. */
export interface Sent {
  readonly path: string;
  readonly method?: string;
  readonly body?: unknown;
  readonly bytes?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What came back. A stream is read until its first events are there. */
export interface Got {
  readonly status: number;
  readonly text: string;
}

/** In the place of an id where a session has none. */
const nothing = "none";

const any = z.object({ p: z.string().optional() });

/** A server of two tenants, in memory, and Ann's sessions in every state. */
export class MatrixWorld implements AsyncDisposable {
  readonly millrace: Millrace;
  /** Effects of tools that ask. */
  readonly wiped: string[] = [];
  /** Who may do all to Ann's sessions, for now. */
  readonly shared: Set<string> = new Set();
  readonly blobs: BlobStore = memoryBlobs();
  readonly #stores = new Map<string, SessionStore>();
  #keys = 0;

  constructor() {
    const wipe = defineTool({
      name: "wipe",
      description: "Wipes",
      input: any,
      approve: "ask",
      run: ({ p = "" }) => {
        this.wiped.push(p);
        return "wiped";
      },
    });
    const locate = defineTool({
      name: "locate",
      description: "Locates",
      input: any,
      output: z.string(),
      run: "client",
    });
    const tools = [wipe, locate];
    const helper = defineAgent({ model, tools }).asTool({ name: "helper", description: "Helps" });
    this.millrace = createMillrace({
      agent: defineAgent({ model, tools: [...tools, helper] }),
      dialects: [aiSdk(), agUi(), openai()],
      store: (tenant) => this.storeOf(tenant),
      blobs: this.blobs,
      authenticate: ({ headers }) => people[headers.get("authorization")?.slice(7) ?? ""],
      authorize: ({ who, action, session }) => {
        if (session.tenant !== who.tenant) return false;
        if (session.owner === who.user || this.shared.has(who.user)) return true;
        const isAdmin = who.roles?.includes("admin") === true;
        return isAdmin && ["list", "read", "stop", "manage"].includes(action);
      },
      limits: unlimited,
    });
  }

  storeOf(tenant: string): SessionStore {
    const store = this.#stores.get(tenant) ?? memorySessionStore();
    this.#stores.set(tenant, store);
    return store;
  }

  async send(
    { path, body, bytes, headers, ...sent }: Sent,
    user: string | undefined,
  ): Promise<Got> {
    const content = bytes ?? (body === undefined ? undefined : JSON.stringify(body));
    const method = sent.method ?? (content === undefined ? "GET" : "POST");
    this.#keys += 1;
    const answer = await this.millrace.fetch(
      new Request(`http://localhost${path}`, {
        method,
        headers: {
          ...(user === undefined ? {} : { authorization: `Bearer ${user}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...(method === "POST" ? { "idempotency-key": `key-0123456789-${this.#keys}` } : {}),
          ...headers,
        },
        ...(content === undefined ? {} : { body: content }),
      }),
    );
    return { status: answer.status, text: await firstText(answer) };
  }

  /** The answer of a request that has to succeed. */
  async ask<T>(user: string, path: string, body?: unknown): Promise<T> {
    const { status, text } = await this.send({ path, body }, user);
    if (status >= 300) throw new Error(`${path} of ${user}: ${status} ${text}`);
    return JSON.parse(text) as T; // of the routes that the setup uses
  }

  /** A session of this name, in which this was asked, and what there is to know of it once it has come to rest. */
  async make(id: string, text: string): Promise<Target> {
    const asked = { id, title: secret, metadata: { note: secret } };
    await this.ask("ann", "/v1/sessions", asked);
    const body = { kind: "prompt", text: `${text} ${secret}` };
    const { runId = "", inputId } = await this.ask<{ runId?: string; inputId: string }>(
      "ann",
      `/v1/sessions/${id}/inputs`,
      body,
    );
    const target = await this.known(id, runId, inputId);
    if (target.approvalId === nothing) return target;
    // Its run waits, so what is sent now waits too, and can be taken back.
    const next = await this.ask<{ inputId: string }>("ann", `/v1/sessions/${id}/inputs`, body);
    return { ...target, inputId: next.inputId };
  }

  async known(id: string, runId: string, inputId: string): Promise<Target> {
    const path = `/v1/sessions/${id}`;
    await vi.waitUntil(async () => this.#rests(id), { timeout: patience / 4, interval: 20 });
    const up = await this.send(
      { path: `${path}/blobs`, method: "POST", bytes: `${secret} ${id}` },
      "ann",
    );
    const { hash } = JSON.parse(up.text) as { hash: string };
    const items = await this.ask<{ items: { item: { id: string } }[] }>("ann", `${path}/items`);
    const open = await this.ask<{ approvals: { id: string }[] }>("ann", `${path}/approvals`);
    const { cursor } = await this.ask<{ cursor: string }>("ann", `${path}/snapshot`);
    const ref = { sessionId: id, runId, from: await this.#segmentOf(id, runId) };
    const calls = (await this.#facts(id)).flatMap(
      (fact) => fact.match(/"callId":"([^"]+)"/)?.[1] ?? [],
    );
    return {
      id,
      hash,
      runId,
      inputId,
      cursor,
      itemId: items.items[0]?.item.id ?? "",
      approvalId: open.approvals[0]?.id ?? nothing,
      callId: calls.at(-1) ?? "call",
      response: nameOf(responsePrefix, ref),
      callName: callNameOf({ ...ref, callId: calls.at(-1) ?? "call" }),
      tickets: {},
    };
  }

  /** All that is Ann's, as text: what an attack changes shows in it. */
  async digest(): Promise<string> {
    const rows: string[] = [];
    for (const record of await this.annsSessions())
      rows.push(
        JSON.stringify([
          record,
          (await this.#facts(record.sessionId)).length,
          await this.blobs.total({ tenant: "t1", uid: record.uid }),
        ]),
      );
    return [...rows.toSorted(), ...this.wiped].join("\n");
  }

  async annsSessions(): Promise<readonly SessionRecord[]> {
    const records = await this.storeOf("t1").list();
    return records.filter(({ owner, parent }) => owner === "ann" || parent !== undefined);
  }

  /** The fact after which the reply of a run begins, as its response names it. */
  async #segmentOf(sessionId: string, runId: string): Promise<number> {
    for (let from = 0; from < 10; from += 1) {
      const path = `/openai/v1/responses/${nameOf(responsePrefix, { sessionId, runId, from })}`;
      if ((await this.send({ path }, "ann")).status === 200) return from;
    }
    return 0;
  }

  async #facts(id: string): Promise<readonly string[]> {
    const record = await this.storeOf("t1").find(id);
    if (record === undefined) return [];
    return (await this.storeOf("t1").read(record.uid)).map((fact) => JSON.stringify(fact));
  }

  /** Whether a run has ended, or waits for a person or a page. */
  async #rests(id: string): Promise<boolean> {
    const facts = (await this.#facts(id)).join("\n");
    return /"run_finished"|"approval_requested"|"client":true|"childSessionId"/.test(facts);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.millrace.close({ drainMs: 100 });
  }
}

const most = 1_000_000;
const unlimited = {
  requestsPerUser: most,
  requestsPerTenant: most,
  creationsPerUser: most,
  inputsPerUser: most,
  ticketsPerUser: most,
  abortsPerUser: most,
  notFoundPerUser: most,
  sessionsPerUser: most,
  streamsPerUser: most,
  exportsPerUser: most,
};

const asks: Readonly<Record<string, readonly ScriptedPart[]>> = {
  wipe: [call("wipe", { p: secret })],
  locate: [call("locate", { p: secret })],
  help: [call("helper", { prompt: `wipe ${secret}` })],
};

/** Calls the tool that the prompt begins with, and says what it was told. */
const model: Model = {
  id: "test/model",
  stream: (request) => {
    const asked = request.transcript.findLast(({ author }) => author === "user")?.parts[0];
    const text = asked?.kind === "text" ? asked.text : "";
    const isAnswered = request.transcript.at(-1)?.author === "tool";
    const calls = isAnswered ? undefined : asks[text.split(" ", 1)[0] ?? ""];
    return scriptedModel([calls ?? [say(`you said ${text}`)]]).stream(request);
  },
};

/** The text of an answer. Of a stream what comes at first: the server may hold it open for half an hour. */
async function firstText(answer: Response): Promise<string> {
  const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream") === true;
  if (!isStream || answer.body === null) return answer.text();
  const reader = answer.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let wait = true; wait;) {
    const late = new Promise<undefined>((resolve) => setTimeout(resolve, 150));
    const read = await Promise.race([reader.read(), late]);
    if (read?.value !== undefined) text += decoder.decode(read.value, { stream: true });
    wait = read !== undefined && !read.done;
  }
  await reader.cancel();
  return text;
}
