import { defineAgent } from "@millrace/agent";
import { memorySessionStore } from "@millrace/core/memory";
import type { SessionStore } from "@millrace/core/ports";
import { scriptedModel } from "@millrace/core/testing";
import type { Identity, Millrace, MillraceOptions } from "../index.ts";
import { createMillrace } from "../index.ts";

/** A server for tests: its bearer tokens are names of these identities. */
export interface HttpProgram {
  readonly millrace: Millrace;
  readonly storeOf: (tenant: string) => SessionStore;
  /** Asks as one of the identities. Without a name: anonymous. */
  readonly ask: (target: string, as?: string, init?: RequestInit) => Promise<Response>;
}

export const identities: Readonly<Record<string, Identity>> = {
  owner: { tenant: "acme", user: "ann" },
  expired: { tenant: "acme", user: "ann", expiresAt: 1 },
  otherUser: { tenant: "acme", user: "bob" },
  otherTenant: { tenant: "umbrella", user: "ann", roles: ["service"] },
  reader: { tenant: "acme", user: "rea" },
  admin: { tenant: "acme", user: "eve", roles: ["admin"] },
  service: { tenant: "acme", user: "bot", roles: ["service"] },
};

/** Makes the server. Its `authorize` is the role table, and `rea` may read everything of the tenant. */
export function httpProgram(options: Partial<MillraceOptions> = {}): HttpProgram {
  const stores = new Map<string, SessionStore>();
  const storeOf = (tenant: string): SessionStore => {
    const store = stores.get(tenant) ?? memorySessionStore();
    stores.set(tenant, store);
    return store;
  };
  const millrace = createMillrace({
    agent: defineAgent({ model: scriptedModel([]) }),
    authenticate: (request) => {
      const [, name = ""] = /^Bearer (\w+)$/.exec(request.headers.get("authorization") ?? "") ?? [];
      return identities[name];
    },
    store: storeOf,
    driver: false,
    ...options,
  });
  const ask = (target: string, as?: string, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers);
    if (as !== undefined) headers.set("authorization", `Bearer ${as}`);
    // Without a token a browser's page is asked from.
    else if (!headers.has("origin")) headers.set("origin", "http://app.example");
    return millrace.fetch(new Request(`http://app.example${target}`, { ...init, headers }));
  };
  return { millrace, storeOf, ask };
}
