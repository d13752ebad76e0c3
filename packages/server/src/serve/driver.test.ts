import { expect, test, vi } from "vitest";
import { defineAgent, defineTool } from "@millrace/agent";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import type { SessionDriver, SessionStore } from "@millrace/core/ports";
import { call, scriptedModel } from "@millrace/core/testing";
import { z } from "zod";
import { newKey, Served } from "../testing/served.ts";
import type { MillraceOptions } from "./millrace.ts";

type Woken = Parameters<SessionDriver["wake"]>[0];

/** A driver that drives nothing, and keeps what was reported to it. */
class RecordingDriver implements SessionDriver {
  readonly woken: Woken[] = [];
  closed = 0;

  readonly wake = (session: Woken): void => void this.woken.push(session);

  readonly close = async (): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, 10));
    this.closed += 1;
  };
}

const prompt = { kind: "prompt", text: "go" };

async function post(served: Served, body: object = prompt): Promise<string> {
  const key = newKey();
  const posted = await served.request("/v1/sessions/s/inputs", { body, key });
  expect(posted.status).toBe(202);
  return key;
}

/** Resolves to the session's head, when that is what the driver was told last. */
async function expectWokenAt(driver: RecordingDriver, store: SessionStore): Promise<void> {
  const record = await store.find("s");
  const head = await store.head(record?.uid ?? fail("no session"));
  const session = { uid: record?.uid, sessionId: "s", tenant: "t1", head };
  await vi.waitFor(() => expect(driver.woken.at(-1)).toEqual(session));
}

function fail(message: string): never {
  throw new Error(message);
}

test("a driver is woken with the head after an input, a take-back and a stop, and nothing is driven here", async () => {
  const store = memorySessionStore();
  const driver = new RecordingDriver();
  await using served = new Served(undefined, { store: () => store, driver });
  await served.create("s");
  expect(driver.woken).toEqual([]);

  const first = await post(served);
  await expectWokenAt(driver, store);
  const second = await post(served, { ...prompt, kind: "follow_up" });
  await expectWokenAt(driver, store);
  const { status } = await served.request(`/v1/sessions/s/inputs/input_${second}`, {
    method: "DELETE",
  });
  expect(status).toBe(204);
  await expectWokenAt(driver, store);
  const stop = await served.request("/v1/sessions/s/abort", { body: { runId: `run_${first}` } });
  expect(stop.status).toBe(202);
  await expectWokenAt(driver, store);

  expect(driver.woken).toHaveLength(4);
  const heads = driver.woken.map(({ head }) => head);
  expect(new Set(heads).size).toBe(4);
  const facts = await store.read(driver.woken[0]?.uid ?? fail("not woken"));
  expect(facts.map(({ type }) => type)).not.toContain("session_claimed");
});

test("a session that is made with its first input wakes the driver, and so does a repeat", async () => {
  const store = memorySessionStore();
  const driver = new RecordingDriver();
  await using served = new Served(undefined, { store: () => store, driver });
  const request = { body: { id: "s", input: prompt }, key: newKey() };

  await served.request("/v1/sessions", request);
  await expectWokenAt(driver, store);
  await served.request("/v1/sessions", request);

  expect(driver.woken).toHaveLength(2);
});

const ask = defineTool({ name: "ask", input: z.object({}), approve: "ask", run: () => "done" });
const locate = defineTool({
  name: "locate",
  input: z.object({}),
  output: z.string(),
  run: "client",
});

test("a driver is woken with the head after an answer to a question and after a client's answer", async () => {
  const store = memorySessionStore();
  const ports: Partial<MillraceOptions> = { store: () => store, log: memoryEventLog() };
  const model = scriptedModel([[call("ask", {}), call("locate", {})]]);
  const driver = new RecordingDriver();
  await using served = new Served(undefined, { ...ports, driver });
  await served.create("s");
  const uid = (await store.find("s"))?.uid ?? fail("no session");
  {
    // It begins the run, and is gone when the question is answered.
    const agent = defineAgent({ model, tools: [ask, locate] });
    await using other = new Served(agent, ports);
    await post(other);
    await vi.waitFor(async () => {
      const types = (await store.read(uid)).map(({ type }) => type);
      expect(types).toContain("approval_requested");
      expect(types).toContain("tool_execution_started");
    });
  }
  const facts = await store.read(uid);
  const asked = facts.find((fact) => fact.type === "approval_requested");
  const begun = facts.find((fact) => fact.type === "tool_execution_started");

  const decided = await served.request(`/v1/sessions/s/approvals/${asked?.approvalId}`, {
    body: { decision: "allow" },
  });
  expect(decided.status).toBe(200);
  await expectWokenAt(driver, store);
  const answered = await served.request("/v1/sessions/s/answers", {
    body: { callId: begun?.callId, output: "Oslo" },
  });
  expect(answered.status).toBe(202);
  await expectWokenAt(driver, store);

  expect(driver.woken).toHaveLength(2);
});

test.each([
  ["throws", (): never => fail("the engine is away")],
  ["rejects", (): Promise<void> => Promise.reject(new Error("the engine is away"))],
])("a driver that %s fails no request, and logs a warning", async (_, wake) => {
  const warned = vi.spyOn(process, "emitWarning").mockReturnValue();
  // A run of another file in this process may warn too.
  const messages = (): readonly string[] =>
    warned.mock.calls.map(([message]) => String(message)).filter((text) => text.startsWith("wake"));
  await using served = new Served(undefined, { driver: { wake } });
  await served.create("s");

  await post(served);

  await vi.waitFor(() =>
    expect(messages()).toEqual(["wake of the driver failed: the engine is away"]),
  );
  warned.mockRestore();
});

test("a request does not wait for its driver", async () => {
  const never = new Promise<void>(() => undefined);
  await using served = new Served(undefined, { driver: { wake: () => never } });
  await served.create("s");

  await post(served); // it would hang
});

test("a server that closes waits for the close of its driver", async () => {
  const driver = new RecordingDriver();
  const served = new Served(undefined, { driver });

  await served.millrace.close({ drainMs: 0 });

  expect(driver.closed).toBe(1);
});

test.each([true, false])("drive: %s beside a driver is refused, with what to do", (drive) => {
  // As a program without types could pass it.
  const options = { drive, driver: new RecordingDriver() };
  expect(() => new Served(undefined, options)).toThrow(
    "createMillrace: drive is no option of createMillrace: write driver: false",
  );
});

test("what is no driver is refused", () => {
  // As a program without types could pass it.
  const driver = {} as unknown as SessionDriver;
  expect(() => new Served(undefined, { driver })).toThrow("driver is an object without fields");
});
