import { randomUUID } from "node:crypto";
import type { Case } from "../case.ts";
import { Caller } from "./caller.ts";
import type { SeenAnswer } from "./caller.ts";
import { openExchange } from "./exchange.ts";
import type { Exchange } from "./exchange.ts";
import type { HttpNeed, HttpServed, HttpSettings, HttpTarget, HttpWho } from "./target.ts";

/** The groups of the cases, as the HTTP API's document has them. */
export type HttpGroup =
  | "sessions"
  | "inputs"
  | "control"
  | "events"
  | "state"
  | "safety"
  | "limits";

/** One requirement of a server. Cases are independent: any number of them may run at once. */
export interface HttpCase extends Case<HttpRun> {
  /** The number of the case in the HTTP API's document; several cases may share one. */
  readonly number: number;
  readonly group: HttpGroup;
  /** A target that does not give all of these is not run with this case. */
  readonly needs: readonly HttpNeed[];
}

/** Cases on one target: the connections, and every answer that was seen. */
export interface HttpRun extends Disposable {
  readonly target: HttpTarget;
  readonly exchange: Exchange;
  readonly seen: SeenAnswer[];
  /** Multiplies the sizes of the cases that have one: 1 for each change, more for a campaign. */
  readonly scale: number;
}

/** Opens what the cases need to run against a target. Disposing it closes its connections. */
export function startHttpRun(target: HttpTarget, scale = 1): HttpRun {
  const exchange = openExchange(target.url, target.protocol);
  return { target, exchange, scale, seen: [], [Symbol.dispose]: () => exchange[Symbol.dispose]() };
}

/** A server of a case, with callers for it. */
export interface OpenedHttp extends AsyncDisposable {
  readonly served: HttpServed;
  /** The same person at this server. */
  readonly for: (caller: Caller) => Caller;
}

/** What one case works with: a tenant of its own, so that no other case counts against its limits. */
export interface HttpContext {
  readonly target: HttpTarget;
  readonly tenant: string;
  readonly scale: number;
  /** A person of this case's tenant. */
  readonly person: (user?: string, more?: Partial<HttpWho>) => Caller;
  /** A request without credentials. */
  readonly nobody: () => Caller;
  /** Another server over the same store; closed with the case. */
  readonly open: (settings: HttpSettings) => Promise<OpenedHttp>;
}

/** A case of a group, from its number, sentence and function. */
export function casesOf(group: HttpGroup) {
  return (
    number: number,
    name: string,
    run: (context: HttpContext) => Promise<void>,
    ...needs: readonly HttpNeed[]
  ): HttpCase => ({
    number,
    name,
    group,
    needs,
    run: async (httpRun) => {
      const opened: AsyncDisposable[] = [];
      try {
        await run(createContext(httpRun, opened));
      } finally {
        for (const server of opened.toReversed()) await server[Symbol.asyncDispose]();
      }
    },
  });
}

function createContext(run: HttpRun, opened: AsyncDisposable[]): HttpContext {
  const { target, exchange, seen, scale } = run;
  const tenant = `t-${randomUUID()}`;
  const caller = (who?: HttpWho): Caller => new Caller({ served: target, exchange, seen, who });
  return {
    target,
    tenant,
    scale,
    person: (user = "ann", more = {}) => caller({ tenant, user, ...more }),
    nobody: () => caller(),
    open: async (settings) => {
      const served = await target.open(settings);
      const other = openExchange(served.url, served.protocol);
      const server: OpenedHttp = {
        served,
        for: (person) => person.at(served, other),
        [Symbol.asyncDispose]: async () => {
          other[Symbol.dispose]();
          await served[Symbol.asyncDispose]();
        },
      };
      opened.push(server);
      return server;
    },
  };
}
