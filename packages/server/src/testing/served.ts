import { defineAgent } from "@millrace/agent";
import type { Agent } from "@millrace/agent";
import { say, scriptedModel } from "@millrace/core/testing";
import { createMillrace } from "../serve/create-millrace.ts";
import type { Millrace, MillraceOptions } from "../serve/millrace.ts";

let keys = 0;

/** A key that no other request of this process has. */
export function newKey(): string {
  keys += 1;
  return `key-0123456789-${keys}`;
}

/** What a request of a test sends. */
export interface SentRequest {
  readonly method?: string;
  readonly body?: unknown;
  readonly key?: string;
  readonly user?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A server in memory, and requests of its users without a network. */
export class Served implements AsyncDisposable {
  readonly millrace: Millrace;

  constructor(agent: Agent = echoAgent(), options: Partial<MillraceOptions> = {}) {
    this.millrace = createMillrace({
      agent,
      authenticate: (request) => {
        const [, user] = /^Bearer (.+)$/.exec(request.headers.get("authorization") ?? "") ?? [];
        if (user === undefined) return undefined;
        return { tenant: "t1", user, roles: user === "service" ? ["service"] : [] };
      },
      ...options,
    });
  }

  request(path: string, sent: SentRequest = {}): Promise<Response> {
    const { body, key, user = "ann", headers } = sent;
    const method = sent.method ?? (body === undefined ? "GET" : "POST");
    return this.millrace.fetch(
      new Request(`http://localhost${path}`, {
        method,
        headers: {
          authorization: `Bearer ${user}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...(key === undefined ? {} : { "idempotency-key": key }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
  }

  /** Makes a session of this name. */
  async create(id: string, more: object = {}): Promise<void> {
    const made = await this.request("/v1/sessions", { body: { id, ...more }, key: newKey() });
    if (made.status !== 201) throw new Error(await made.text());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.millrace[Symbol.asyncDispose]();
  }
}

/** An agent that answers each prompt with the same words. */
function echoAgent(): Agent {
  return defineAgent({
    model: {
      id: "echo/model",
      stream: (request) => scriptedModel([[say("hello there")]]).stream(request),
    },
  });
}
