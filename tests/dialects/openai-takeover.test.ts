import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { defineAgent } from "@millrace/agent";
import type { Agent, Session } from "@millrace/agent";
import type { Model } from "@millrace/core";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import type { EventLog, SessionStore } from "@millrace/core/ports";
import { say, scriptedModel, stall } from "@millrace/core/testing";
import { openai } from "@millrace/dialects/openai";
import { createMillrace } from "@millrace/server";
import OpenAI, { APIError } from "openai";
import { expect, test } from "vitest";
import { until } from "../kit/until.ts";
import { attemptsIn, signedWords } from "./kit/signed-words.ts";

// A driver dies in the middle of a reply, and another one begins the reply again. The reader has read some of the
// first attempt over HTTP, is cut, and comes back as the openai library does.
test.each([
  [2, "while the second attempt is written"],
  [7, "after the end"],
  [20, "while the second attempt is written"],
  [20, "after the end"],
])(
  "a reader of Responses that was cut after %i deltas and comes back %s is asked to read anew",
  async (deltas, when) => {
    await using place = await openPlace();
    const { client } = place;
    const body = {
      input: "Tell me",
      conversation: "tale",
      background: true,
      stream: true,
    } as const;
    const begun = await client.responses.create(body);
    const first = await place.drive();
    const reader = new Reader();
    for await (const event of begun) if (reader.take(event) === deltas) break;
    const second = await place.drive();
    await until(() => place.attempts() === 2, "the second attempt");
    if (when === "after the end") await until(() => second.status === "idle", "the end");

    const { id } = reader;
    const resumed = await client.responses.retrieve(id, {
      stream: true,
      starting_after: reader.last,
    });
    const error = await reader.readAll(resumed);
    expect(attemptsIn(reader.text)).toEqual(["1"]);
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ code: "begun_again" });
    expect(String(error)).toMatch(/Read the response anew/);
    // The library has no number of the error: a reader that goes on again is refused again.
    const again = await client.responses.retrieve(id, {
      stream: true,
      starting_after: reader.last,
    });
    expect(await reader.readAll(again)).toMatchObject({ code: "begun_again" });

    const anew = new Reader();
    const whole = await client.responses.retrieve(id, { stream: true });
    expect(await anew.readAll(whole)).toBeUndefined();
    const stored = await client.responses.retrieve(id);
    expect(anew.text).toBe(stored.output_text);
    expect(attemptsIn(stored.output_text)).toEqual(["2"]);
    for (const session of [first, second]) await session.close();
  },
);

/** What a client keeps of a response. */
class Reader {
  id = "";
  text = "";
  last = 0;
  #deltas = 0;

  /** How many deltas it has had. */
  take(event: OpenAI.Responses.ResponseStreamEvent): number {
    this.last = event.sequence_number;
    if (event.type === "response.created") this.id = event.response.id;
    if (event.type === "response.output_text.delta") {
      this.text += event.delta;
      this.#deltas += 1;
    }
    return this.#deltas;
  }

  /** Reads to the end, or to the error that the library throws. */
  async readAll(stream: AsyncIterable<OpenAI.Responses.ResponseStreamEvent>): Promise<unknown> {
    try {
      for await (const event of stream) this.take(event);
      return undefined;
    } catch (error) {
      return error;
    }
  }
}

/** A web node over a socket, and processes that drive what it is sent. */
interface Place extends AsyncDisposable {
  readonly client: OpenAI;
  /** Another process takes over the run that is on, or begins it. */
  readonly drive: () => Promise<Session>;
  readonly attempts: () => number;
}

async function openPlace(): Promise<Place> {
  const [store, log]: [SessionStore, EventLog] = [memorySessionStore(), memoryEventLog()];
  let attempts = 0;
  const model: Model = {
    id: "scripted/signed",
    stream: (request) => {
      attempts += 1;
      const words = say(signedWords(String(attempts)));
      // The first attempt does not end before it is superseded, however slow the machine is.
      const reply = attempts === 1 ? [words, stall()] : [words];
      return scriptedModel([reply], { delayMs: 5, chunk: [5] }).stream(request);
    },
  };
  const agent: Agent = defineAgent({ model });
  const authenticate = () => ({ tenant: "web", user: "ann" });
  const dialects = [openai()];
  const millrace = createMillrace({
    agent,
    dialects,
    authenticate,
    store: () => store,
    log,
    driver: false,
  });
  const server = createServer((request, response) => millrace.node(request, response));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo; // listening on a port, it has one
  const baseURL = `http://127.0.0.1:${port}/openai/v1`;
  // The store shows no driver: who opens the session takes its run over.
  const { drivers: _, ...blind } = store;
  return {
    client: new OpenAI({ apiKey: "ann", baseURL, maxRetries: 0 }),
    drive: () => agent.open({ id: "tale", store: { ...blind }, log }),
    attempts: () => attempts,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await millrace.close({ drainMs: 0 });
    },
  };
}
