/** Each route of the server and of its dialects, asked by everyone who may not. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { patience } from "../kit/patience.ts";
import { requests } from "./kit/matrix-requests.ts";
import { MatrixWorld, secret } from "./kit/matrix-world.ts";
import type { Got, Sent, Target } from "./kit/matrix-world.ts";

let world: MatrixWorld;
const targets: Target[] = [];

beforeAll(async () => {
  world = new MatrixWorld();
  for (const [id, text] of [
    ["done", "hello"],
    ["asks", "wipe"],
    ["waits", "locate"],
    ["parent", "help"],
  ] as const)
    targets.push(await world.make(id, text));
  const child = await vi.waitUntil(async () =>
    (await world.annsSessions()).find(({ parent }) => parent !== undefined),
  );
  targets.push(await world.known(child.sessionId, "run_1", "input_1"));
}, patience);
afterAll(() => world[Symbol.asyncDispose]());

it("every route has its requests here", () => {
  expect(Object.keys(requests).toSorted()).toEqual(
    world.millrace.routes.map(({ name }) => name).toSorted(),
  );
});

/** Routes of which everyone gets the same, whatever there is in the server. */
const open: ReadonlySet<string> = new Set(["health", "ready"]);
/** Routes that answer a caller who is signed in, and name no session. */
const ownOnly: ReadonlySet<string> = new Set(["listSessions", "openapi", "openaiModels"]);
/** What an admin may do. */
const adminActions: ReadonlySet<string> = new Set(["list", "read", "stop", "manage", "create"]);

/** Routes of dialects that send and decide. */
const sendingRoute = /^(?:aiSdkSend|agUiRun|openaiRespond|openaiComplete)/;

interface Attempt {
  readonly route: string;
  /** The session that it is about. */
  readonly id: string;
  readonly sent: Sent;
}

/** Requests to all targets, as they were or with what this caller knows instead. */
function attempts(known: (target: Target) => Target = (target) => target): readonly Attempt[] {
  return Object.entries(requests).flatMap(([route, make]) =>
    targets
      .map((target) => known(target))
      .flatMap((target) => make(target).map((sent) => ({ route, id: target.id, sent }))),
  );
}

let count = 0;

/** Sends them all as this caller, and returns what was answered that should not have been. */
async function attack(
  user: string | undefined,
  sent: readonly Attempt[],
  isRefusal: (status: number, route: string) => boolean,
  { mayRead = false }: { readonly mayRead?: boolean } = {},
): Promise<readonly string[]> {
  const before = await world.digest();
  const wrong: string[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let attempt = sent[next]; attempt !== undefined; attempt = sent[next]) {
      next += 1;
      const { route } = attempt;
      const got = await world.send(attempt.sent, user);
      count += 1;
      const shown = `${route} ${JSON.stringify(attempt.sent)}: ${got.status} ${got.text.slice(0, 300)}`;
      if (!mayRead && got.text.includes(secret)) wrong.push(`leak: ${shown}`);
      if (open.has(route) || isRefusal(got.status, route)) continue;
      if (!(await isAsMissing(user, attempt, got))) wrong.push(`answer: ${shown}`);
    }
  };
  await Promise.all(Array.from({ length: 40 }, worker));
  if ((await world.digest()) !== before) wrong.push(`effect: ${await world.digest()}`);
  return wrong;
}

/** Whether the answer is that for a session that is not there: dialects give an empty one, or end a stream. */
async function isAsMissing(
  user: string | undefined,
  { id: target, sent }: Attempt,
  got: Got,
): Promise<boolean> {
  const text = JSON.stringify(sent);
  const asked = JSON.parse(text.replaceAll(target, "not-there")) as Sent; // what it was, but for the name
  const missing = await world.send(asked, user);
  const shown = (answer: Got): string =>
    answer.text
      .replace(/^retry: \d+/m, "")
      .replaceAll(target, "not-there")
      .replaceAll(/millrace\.cleared\.\d+/g, "");
  return got.status < 300 && got.status === missing.status && shown(got) === shown(missing);
}

const isUnauthenticated = (status: number): boolean => status === 401;
const isRefused = (status: number, route: string): boolean =>
  (status >= 400 && status < 500) || ownOnly.has(route);

describe("nothing is shown, and nothing happens", { timeout: patience }, () => {
  it("for a caller without credentials", async () => {
    expect(await attack(undefined, attempts(), isUnauthenticated)).toEqual([]);
  });

  it("for a caller with invented ones", async () => {
    expect(await attack("nobody", attempts(), isUnauthenticated)).toEqual([]);
  });

  it("for another user of the tenant", async () => {
    expect(await attack("bob", attempts(), isRefused)).toEqual([]);
  });

  it("for the names of the sub-agents that come next", async () => {
    const guess = (target: Target): Target => ({
      ...target,
      id: (targets.at(-1)?.id ?? "").replace(/.$/, (last) => (last === "a" ? "b" : "a")),
    });
    expect(await attack("bob", attempts(guess), isRefused)).toEqual([]);
  });

  it.each(["eve", "otherAnn"])(
    "for %s of another tenant, who gets sessions of that one",
    async (user) => {
      // The same names are free there: what is made is not Ann's.
      expect(await attack(user, attempts(), () => true)).toEqual([]);
    },
  );

  it("for an admin who would send or decide", async () => {
    const denied = attempts().filter(({ route }) => {
      const found = world.millrace.routes.find(({ name }) => name === route);
      return found?.actions.some((action) => !adminActions.has(action)) === true;
    });
    expect(await attack("adm", denied, (status) => status === 403)).toEqual([]);
    // An admin may read, so a dialect answers, and does nothing.
    const byDialects = attempts().filter(({ route }) => sendingRoute.test(route));
    expect(await attack("adm", byDialects, () => true, { mayRead: true })).toEqual([]);
  });

  it("for a user whose right was revoked, with all that was known before", async () => {
    world.shared.add("rita");
    const held = new Map<string, Target["tickets"]>();
    for (const { id, hash } of targets) held.set(id, await ticketsOf("rita", id, hash));
    world.shared.delete("rita");
    const known = (target: Target): Target => ({ ...target, tickets: held.get(target.id) ?? {} });

    expect(await attack("rita", attempts(known), isRefused)).toEqual([]);
  });

  it("for a user with a fork from before, of what came after and of sub-agents", async () => {
    world.shared.add("fred");
    const forks: string[] = [];
    for (const { id, itemId } of targets.slice(0, -1)) {
      const fork = await world.ask<{ id: string }>("fred", `/v1/sessions/${id}/forks`, {
        itemId,
        title: "fork",
        metadata: {},
      });
      forks.push(fork.id);
    }
    world.shared.delete("fred");

    expect(await attack("fred", attempts(), isRefused)).toEqual([]);
    const children = targets.at(-1)?.id ?? "";
    for (const fork of forks)
      for (const path of ["export?format=jsonl&children=true", "approvals?deep=true"]) {
        const { text } = await world.send({ path: `/v1/sessions/${fork}/${path}` }, "fred");
        expect(text).not.toContain(`"sessionId":"${children}"`);
      }
  });
});

async function ticketsOf(user: string, id: string, hash: string): Promise<Target["tickets"]> {
  const ticket = (body: object): Promise<{ ticket: string }> =>
    world.ask(user, "/v1/tickets", body);
  const events = await ticket({ sessionId: id, use: "events" });
  const blob = await ticket({ sessionId: id, use: "blob", hash });
  return { events: events.ticket, blob: blob.ticket };
}

describe("the matrix", () => {
  it("has at least 3,000 requests", () => {
    const routes = Object.keys(requests).length;
    console.log(`count: ${count} requests of those who may not, ${routes} routes`);
    expect(count).toBeGreaterThanOrEqual(3_000);
  });

  it(
    "reaches what it asks for: their owner gets an answer from every route",
    {
      timeout: patience,
    },
    async () => {
      const answered = new Set<string>();
      const last = ["decideApproval", "answerCall", "abortRun", "removeSession"];
      const others = Object.keys(requests).filter((route) => !last.includes(route));
      const ask = async (route: string, sent: Sent): Promise<void> => {
        // A reply that waits for its run comes too late, and is not needed: another one of the route is there.
        const got = await Promise.race([world.send(sent, "ann"), sleep(2_000)]);
        if (got !== undefined && got.status < 300) answered.add(route);
      };

      for (const route of [...others, ...last]) {
        const asked = targets.map(async (target) => {
          const tickets = await ticketsOf("ann", target.id, target.hash).catch(() => ({}));
          const all = requests[route]?.({ ...target, tickets }) ?? [];
          await Promise.all(all.map((sent) => ask(route, sent)));
        });
        await Promise.all(asked);
      }

      expect(Object.keys(requests).filter((route) => !answered.has(route))).toEqual([]);
    },
  );
});
