import { memoryEventLog, memorySessionStore, systemClock } from "@millrace/core/memory";
import type { DriverIndex, EventLog, SessionStore } from "@millrace/core/ports";
import type { Model } from "@millrace/core";
import { call, say, scriptedModel, stall } from "@millrace/core/testing";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { defineAgent } from "../define/define-agent.ts";
import { defineTool } from "../definition/tool.ts";
import { processPorts } from "../testing/process-ports.ts";
import { createWorker } from "./create-worker.ts";
import type { WorkerEvent, WorkerOptions } from "./worker.ts";

const patience = { timeout: 60_000 };
const soon = { timeout: 20_000, interval: 20 };

/** A model that counts its requests and answers each one by the script of a new scripted model. */
function countingModel(...script: Parameters<typeof scriptedModel>[0]) {
  const count = { requests: 0 };
  const stream: Model["stream"] = (request) => {
    count.requests += 1;
    return scriptedModel(script).stream(request);
  };
  return { model: { id: "counting/model", stream } satisfies Model, count };
}

function portsFixture() {
  const [store, log] = [memorySessionStore(), memoryEventLog()];
  return { store, log };
}

/** Of the processes that post and do not drive. */
const viewer = defineAgent({ model: scriptedModel([]) });

/** Sends a prompt from a process that does not drive. Returns a function that waits for its outcome. */
async function post(ports: { store: SessionStore; log: EventLog }, id: string, prompt = "go") {
  const session = await viewer.open({ ...ports, id, drive: false });
  const run = session.send(prompt);
  await run.accepted;
  return async () => {
    const { outcome } = await run.result;
    await session.close();
    return outcome;
  };
}

function eventsFixture() {
  const events: WorkerEvent[] = [];
  const onEvent = (event: WorkerEvent): void => void events.push(event);
  const types = (id: string): readonly string[] =>
    events.flatMap((event) => ("sessionId" in event && event.sessionId === id ? [event.type] : []));
  return { events, onEvent, types };
}

describe("a worker", () => {
  it(
    "drives an input that another process has posted, and closes the session",
    patience,
    async () => {
      const ports = portsFixture();
      const { model, count } = countingModel([say("hello")]);
      const { onEvent, types } = eventsFixture();
      const options = { agent: defineAgent({ model }), ...ports, idleMs: 10, onEvent };
      await using worker = await createWorker(options);
      void worker.run();

      const outcome = await (await post(ports, "s"))();

      expect(outcome).toBe("completed");
      expect(count.requests).toBe(1);
      await vi.waitFor(() => expect(worker.sessions()).toEqual([]), soon);
      expect(types("s")).toEqual(["session_taken", "session_closed"]);
    },
  );

  it(
    "shares the sessions of a store with others: one request for each prompt",
    patience,
    async () => {
      const ports = portsFixture();
      const { model, count } = countingModel([say("hello")]);
      const agent = defineAgent({ model });
      const workers = await Promise.all(
        [1, 2, 3].map(() => createWorker({ ...processPorts(ports.store, ports.log).ports, agent })),
      );
      const over = workers.map((worker) => worker.run());

      const ids = Array.from({ length: 60 }, (_, at) => `s${at}`);
      const outcomes = await Promise.all(ids.map(async (id) => (await post(ports, id))()));

      expect(new Set(outcomes)).toEqual(new Set(["completed"]));
      expect(count.requests).toBe(60);
      await Promise.all(workers.map((worker) => worker.shutdown()));
      await Promise.all(over);
    },
  );

  it("finds the runs of a worker that died, and ends them", patience, async () => {
    const ports = portsFixture();
    const agent = defineAgent({ model: countingModel([say("begun"), stall()]).model });
    const dying = processPorts(ports.store, ports.log);
    const first = await createWorker({ agent, ...dying.ports });
    void first.run();
    const ends = await Promise.all(["a", "b", "c"].map((id) => post(ports, id)));
    await vi.waitFor(async () => {
      const due = (await ports.store.drivers?.due()) ?? [];
      expect(due.filter(({ run }) => run !== undefined)).toHaveLength(3);
    }, soon);
    dying.kill();

    const { model, count } = countingModel([say("done")]);
    const { events, onEvent } = eventsFixture();
    const alive = { agent: defineAgent({ model }), ...processPorts(ports.store, ports.log).ports };
    await using second = await createWorker({ ...alive, onEvent });
    void second.run();

    expect(await Promise.all(ends.map((end) => end()))).toEqual(Array(3).fill("completed"));
    expect(count.requests).toBe(3);
    const taken = events.filter(({ type }) => type === "session_taken");
    expect(taken).toMatchObject(ends.map(() => ({ after: first.name })));
  });

  it("leaves the run of an engine that is silent to it", patience, async () => {
    const ports = portsFixture();
    const agent = defineAgent({ model: countingModel([say("begun"), stall()]).model });
    const dying = processPorts(ports.store, ports.log);
    const engine = processPorts(ports.store, ports.log);
    const claim: SessionStore["claim"] = (uid, request) =>
      ports.store.claim(uid, { ...request, by: "engine_1" });
    const { store, log } = engine.ports;
    const driven = await agent.open({ id: "driven", store: { ...store, claim }, log });
    await driven.send("go").until("content_delta");
    const first = await createWorker({ agent, ...dying.ports });
    void first.run();
    const end = await post(ports, "left");
    await vi.waitFor(async () => {
      const due = (await ports.store.drivers?.due()) ?? [];
      expect(due.filter(({ run }) => run !== undefined)).toHaveLength(2);
    }, soon);
    engine.kill();
    dying.kill();

    const { model } = countingModel([say("done")]);
    const alive = { agent: defineAgent({ model }), ...processPorts(ports.store, ports.log).ports };
    await using second = await createWorker(alive);
    void second.run();

    expect(await end()).toBe("completed");
    expect((await ports.store.find("driven"))?.incarnation).toBe(1);
  });

  it(
    "works on as many runs as it has capacity for; one that waits for a person is none",
    patience,
    async () => {
      const ports = portsFixture();
      const busy = { now: 0, most: 0 };
      const work = defineTool({
        name: "work",
        input: z.object({}),
        run: async () => {
          busy.now += 1;
          busy.most = Math.max(busy.most, busy.now);
          await new Promise((resolve) => setTimeout(resolve, 100));
          busy.now -= 1;
          return "done";
        },
      });
      const ask = defineTool({
        name: "ask",
        input: z.object({}),
        approve: "ask",
        run: () => "yes",
      });
      const isQuestion = ({ sessionId }: { readonly sessionId: string }) =>
        sessionId.startsWith("q");
      const asking = defineAgent({ model: countingModel([call("ask", {})]).model, tools: [ask] });
      const script = (): Model => scriptedModel([[call("work", {})], [say("ok")]]);
      const working = () => defineAgent({ model: script(), tools: [work] });
      await Promise.all(["q1", "q2", "q3", "q4"].map((id) => post(ports, id)));
      const { events, onEvent } = eventsFixture();
      await using worker = await createWorker({
        ...ports,
        agent: (record) => (isQuestion(record) ? asking : working()),
        capacity: 2,
        idleMs: 10,
        drainMs: 10,
        onEvent,
      });
      void worker.run();
      await vi.waitFor(() => expect(worker.sessions()).toHaveLength(4), soon);

      const ends = await Promise.all(["w1", "w2", "w3", "w4", "w5"].map((id) => post(ports, id)));

      expect(await Promise.all(ends.map((end) => end()))).toEqual(Array(5).fill("completed"));
      expect(busy.most).toBe(2);
      expect(worker.sessions().filter((id) => id.startsWith("q"))).toHaveLength(4);
      expect(events.filter(({ type }) => type === "session_failed")).toEqual([]);
    },
  );

  it("drains: a turn in progress ends here, and the next one elsewhere", patience, async () => {
    const ports = portsFixture();
    const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const effects: string[] = [];
    const toolOf = (name: string, work: () => Promise<void>) =>
      defineTool({
        name: "pay",
        input: z.object({}),
        run: async () => {
          effects.push(name);
          await work();
          return "paid";
        },
      });
    const here = defineAgent({
      model: countingModel([call("pay", {})]).model,
      tools: [
        toolOf("here", () => {
          begun.resolve();
          return end.promise;
        }),
      ],
    });
    const first = await createWorker({
      ...processPorts(ports.store, ports.log).ports,
      agent: here,
    });
    const over = first.run();
    const ended = await post(ports, "s");
    await begun.promise;
    const closed = first.shutdown();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(first.sessions()).toEqual(["s"]);
    end.resolve();
    await closed;
    await over;
    const there = defineAgent({
      model: countingModel([say("Paid.")]).model,
      tools: [toolOf("there", async () => undefined)],
    });
    await using second = await createWorker({
      ...processPorts(ports.store, ports.log).ports,
      agent: there,
    });
    void second.run();

    expect(await ended()).toBe("completed");
    expect(effects).toEqual(["here"]);
    const { uid } = (await ports.store.find("s")) ?? {};
    if (uid === undefined) throw new Error("the session is gone");
    const facts = await ports.store.read(uid);
    expect(facts.filter(({ type }) => type === "session_released")).toHaveLength(1);
    const results = facts.flatMap((fact) =>
      fact.type === "item_committed" ? fact.item.parts : [],
    );
    expect(results).toContainEqual(expect.objectContaining({ tool: "pay", status: "ok" }));
  });

  it("backs a session off that keeps failing, and lists it as poisoned", patience, async () => {
    const ports = portsFixture();
    const { model } = countingModel([say("ok")]);
    const agent = defineAgent({ model });
    const broken = { value: true };
    const { events, onEvent } = eventsFixture();
    await using worker = await createWorker({
      ...ports,
      agent: ({ sessionId }) => {
        if (sessionId === "bad" && broken.value) throw new Error("no such agent");
        return agent;
      },
      poisonAfter: 3,
      onEvent,
    });
    void worker.run();
    const bad = await post(ports, "bad");
    expect(await (await post(ports, "good"))()).toBe("completed");

    await vi.waitFor(() => expect(worker.poisoned()).toHaveLength(1), soon);
    expect(worker.poisoned()[0]).toMatchObject({ sessionId: "bad", tries: 3 });
    const failed = events.filter((event) => event.type === "session_failed");
    expect(failed.map(({ tries, poisoned }) => [tries, poisoned])).toEqual([
      [1, false],
      [2, false],
      [3, true],
    ]);

    broken.value = false;
    expect(await bad()).toBe("completed");
    await vi.waitFor(() => expect(worker.sessions()).toEqual([]), soon);
    expect(worker.poisoned()).toEqual([]);
  });
});

it(
  "a sub-agent's session is driven by its parent's driver, and never by a worker by itself",
  patience,
  async () => {
    const ports = portsFixture();
    const child = (script: Parameters<typeof scriptedModel>[0]) =>
      defineAgent({ model: scriptedModel(script) }).asTool({ name: "help", description: "Helps" });
    const dying = processPorts(ports.store, ports.log);
    const first = await createWorker({
      ...dying.ports,
      agent: defineAgent({
        model: scriptedModel([[call("help", { prompt: "help me" })]]),
        tools: [child([[say("half"), stall()]])],
      }),
    });
    void first.run();
    const ended = await post(ports, "s");
    await vi.waitFor(async () => {
      const due = (await ports.store.drivers?.due()) ?? [];
      expect(due.filter(({ run }) => run !== undefined)).toHaveLength(2);
    }, soon);
    dying.kill();

    const { events, onEvent } = eventsFixture();
    const alive = processPorts(ports.store, ports.log).ports;
    await using second = await createWorker({
      ...alive,
      agent: defineAgent({
        model: scriptedModel([[say("thanks")]]),
        tools: [child([[say("whole")]])],
      }),
      onEvent,
    });
    void second.run();

    expect(await ended()).toBe("completed");
    const taken = events.flatMap((event) =>
      event.type === "session_taken" ? event.sessionId : [],
    );
    expect(taken).toEqual(["s"]);
  },
);

it(
  "a session without anything to do is not opened again before its head changes",
  patience,
  async () => {
    const ports = portsFixture();
    const { onEvent, types } = eventsFixture();
    await using worker = await createWorker({ ...ports, agent: () => undefined, onEvent });
    void worker.run();
    await post(ports, "s");
    await vi.waitFor(() => expect(types("s")).toHaveLength(2), soon);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(types("s")).toHaveLength(2);

    await post(ports, "s", "and more");

    await vi.waitFor(() => expect(types("s")).toHaveLength(4), soon);
  },
);

it(
  "a session of a tenant is opened in the store of that tenant, by the same driver",
  patience,
  async () => {
    const { store, log } = portsFixture();
    const tenants: string[] = [];
    const drivers = store.drivers;
    if (drivers === undefined) throw new Error("the store has no index of drivers");
    const due: typeof drivers.due = async (options) =>
      (await drivers.due(options)).map((session) => ({ ...session, tenant: "acme" }));
    const claimed: (string | undefined)[] = [];
    const forTenant = (tenant: string): SessionStore => {
      tenants.push(tenant);
      const claim: SessionStore["claim"] = (uid, request) => {
        claimed.push(request.driver);
        return store.claim(uid, request);
      };
      return { ...store, claim };
    };
    const agent = defineAgent({ model: countingModel([say("hello")]).model });
    const root = { ...store, drivers: { ...drivers, due }, forTenant };
    await using worker = await createWorker({ store: root, log, agent });
    void worker.run();

    const outcomes = await Promise.all(
      ["a", "b"].map(async (id) => (await post({ store, log }, id))()),
    );

    expect(outcomes).toEqual(["completed", "completed"]);
    expect(tenants).toEqual(["acme"]);
    expect(new Set(claimed)).toEqual(new Set([worker.name]));
  },
);

it("a session that was removed after it was listed is not created again", patience, async () => {
  const { store, log } = portsFixture();
  const drivers = store.drivers;
  if (drivers === undefined) throw new Error("the store has no index of drivers");
  await post({ store, log }, "s");
  const listed = await drivers.due();
  for (const { uid } of listed) await store.remove(uid);
  const looks = { count: 0 };
  const due = async () => {
    looks.count += 1;
    return listed;
  };
  const agent = defineAgent({ model: countingModel([say("hello")]).model });
  await using worker = await createWorker({
    store: { ...store, drivers: { ...drivers, due } },
    log,
    agent,
  });
  void worker.run();
  await vi.waitFor(() => expect(looks.count).toBeGreaterThan(1), soon);

  expect(await store.list()).toEqual([]);
});

it("a store without an index of drivers is refused", async () => {
  const { store, log } = portsFixture();
  const { drivers: _, ...plain } = store;
  const agent = defineAgent({ model: countingModel([say("hello")]).model });

  await expect(createWorker({ store: plain, log, agent })).rejects.toMatchObject({
    code: "invalid_definition",
  });
});

describe("a worker that is woken", () => {
  const dueOf = async (store: SessionStore, id: string) => {
    const record = await store.find(id);
    if (record === undefined) throw new Error("no session");
    return record;
  };

  it("takes the session at once, without a read of the index", patience, async () => {
    const ports = portsFixture();
    const { model } = countingModel([say("hello")]);
    const due = vi.fn(async () => []);
    const index = { ...(ports.store.drivers as DriverIndex), due };
    await using worker = await createWorker({ agent: defineAgent({ model }), ...ports, index });
    void worker.run();
    const outcome = await post(ports, "s");

    worker.wake(await dueOf(ports.store, "s"));

    expect(await outcome()).toBe("completed");
    expect(due.mock.calls.length).toBeGreaterThan(0); // and listed nothing
  });

  it("takes a session again whose input came while it was being closed", patience, async () => {
    const ports = portsFixture();
    const { model, count } = countingModel([say("hello")]);
    const index = { ...(ports.store.drivers as DriverIndex), due: async () => [] };
    const agent = defineAgent({ model });
    await using worker = await createWorker({ agent, ...ports, index, idleMs: 0 });
    void worker.run();
    for (let round = 1; round <= 20; round += 1) {
      const outcome = await post(ports, "s", `go ${round}`);
      worker.wake(await dueOf(ports.store, "s"));
      expect(await outcome()).toBe("completed");
      expect(count.requests).toBe(round);
    }
  });

  it("holds sessions back that are not admitted, until another one is done", patience, async () => {
    const ports = portsFixture();
    let [now, most] = [0, 0];
    const model: Model = {
      id: "counting/model",
      stream: (request) => {
        most = Math.max(most, (now += 1));
        const stream = scriptedModel([[say("hello")]]).stream(request);
        void stream.result.then(() => (now -= 1));
        return stream;
      },
    };
    const admit: WorkerOptions["admit"] = (_, beside) => beside.length < 2;
    await using worker = await createWorker({ agent: defineAgent({ model }), ...ports, admit });
    void worker.run();

    const posts = await Promise.all(Array.from({ length: 6 }, (_, at) => post(ports, `s${at}`)));
    for (let at = 0; at < 6; at += 1) worker.wake(await dueOf(ports.store, `s${at}`));
    const outcomes = await Promise.all(posts.map((outcome) => outcome()));

    expect(outcomes).toEqual(Array.from({ length: 6 }, () => "completed"));
    expect(most).toBeLessThanOrEqual(2);
  });

  it("has given its slots back when it has stopped", patience, async () => {
    const ports = portsFixture();
    let held = 0;
    const acquireSlot: WorkerOptions["acquireSlot"] = async () => {
      held += 1;
      const leave = async (): Promise<void> => {
        await systemClock.sleep(50); // as counters on another machine take
        held -= 1;
      };
      return { rest: () => undefined, leave };
    };
    const agent = defineAgent({ model: scriptedModel([[say("hello")]]) });
    const worker = await createWorker({ agent, ...ports, acquireSlot });
    void worker.run();
    expect(await (await post(ports, "p"))()).toBe("completed");

    await worker.shutdown();

    expect(held).toBe(0);
  });

  it(
    "gives a dead driver's slot back also if the store is away as it takes over",
    patience,
    async () => {
      const ports = portsFixture();
      const agent = defineAgent({ model: countingModel([say("begun"), stall()]).model });
      const dying = processPorts(ports.store, ports.log);
      const first = await createWorker({ agent, ...dying.ports });
      void first.run();
      const outcome = await post(ports, "s");
      const isOn = async (): Promise<boolean> =>
        (await ports.store.drivers?.due())?.[0]?.run !== undefined;
      await vi.waitFor(async () => expect(await isOn()).toBe(true), soon);
      dying.kill();

      const { store, log } = processPorts(ports.store, ports.log).ports;
      const drivers = store.drivers as DriverIndex; // memory has one
      let failures = 0;
      const find: DriverIndex["find"] = async (uid) => {
        const sign = await drivers.find(uid);
        if (sign?.driver === first.name || failures === 2) return sign;
        failures += 1;
        throw new Error("the store is away");
      };
      const superseded: string[] = [];
      const supersede = (driver: string): void => void superseded.push(driver);
      const slot = { rest: () => undefined, leave: () => undefined, supersede };
      const worker = await createWorker({
        agent: defineAgent({ model: countingModel([say("done")]).model }),
        store: { ...store, drivers: { ...drivers, find } },
        log,
        acquireSlot: async () => slot,
      });
      void worker.run();

      await vi.waitFor(() => expect(superseded).toEqual([first.name]), soon);
      expect(await outcome()).toBe("completed");
      await worker.shutdown();
    },
  );

  it("stops though a slot is not given back", patience, async () => {
    const ports = portsFixture();
    const agent = defineAgent({ model: scriptedModel([[say("hello")]]) });
    const leave = (): Promise<void> => new Promise(() => undefined);
    const slot = { rest: () => undefined, leave };
    const worker = await createWorker({ agent, ...ports, acquireSlot: async () => slot });
    void worker.run();
    expect(await (await post(ports, "p"))()).toBe("completed");

    await worker.shutdown();
  });

  it("asks for a slot, tries again without one, and gives back what it got", patience, async () => {
    const ports = portsFixture();
    const model = scriptedModel(Array.from({ length: 3 }, () => [say("hello")]));
    let [asked, held, most] = [0, 0, 0];
    const acquireSlot: WorkerOptions["acquireSlot"] = async () => {
      asked += 1;
      if (held > 0 || asked === 1) return undefined;
      most = Math.max(most, (held += 1));
      return { rest: () => undefined, leave: () => void (held -= 1) };
    };
    const agent = defineAgent({ model });
    const worker = await createWorker({ agent, ...ports, acquireSlot, idleMs: 20 });
    void worker.run();

    const posts = await Promise.all(Array.from({ length: 3 }, (_, at) => post(ports, `p${at}`)));
    const outcomes = await Promise.all(posts.map((outcome) => outcome()));
    await worker.shutdown();

    expect(outcomes).toEqual(["completed", "completed", "completed"]);
    expect([most, held]).toEqual([1, 0]);
    expect(asked).toBeGreaterThan(3);
  });
});
