import { setTimeout as sleep } from "node:timers/promises";
import { assert } from "../case.ts";
import type { HttpBody } from "./body.ts";
import type { Caller, HttpAnswer } from "./caller.ts";

/** Longer than anything a case waits for takes on a busy machine. */
const patienceMs = 10_000;

/** Repeats a question until its answer is there. */
export async function eventually<T>(
  ask: () => Promise<T | undefined>,
  what: string,
  everyMs = 15,
): Promise<T> {
  const end = performance.now() + patienceMs;
  for (;;) {
    const found = await ask();
    if (found !== undefined) return found;
    assert(performance.now() < end, `not within ${patienceMs} ms: ${what}`);
    await sleep(everyMs);
  }
}

/** The first question that a session asks now. */
export async function approvalOf(
  caller: Caller,
  id: string,
  query = "",
): Promise<HttpBody | undefined> {
  const { body } = await caller.expect(200, "GET", `/v1/sessions/${id}/approvals${query}`);
  return body.approvals?.[0];
}

/** Waits until a session asks. */
export function untilApproval(caller: Caller, id: string, query = ""): Promise<HttpBody> {
  return eventually(() => approvalOf(caller, id, query), "a question is asked");
}

/** Answers a question. */
export function decide(
  caller: Caller,
  id: string,
  { id: approvalId = "" }: HttpBody,
  body: object,
): Promise<HttpAnswer> {
  const path = `/v1/sessions/${id}/approvals/${encodeURIComponent(approvalId)}`;
  return caller.call("POST", path, { body });
}

/** Does all jobs, some at a time. */
export async function each<T>(
  jobs: readonly T[],
  atOnce: number,
  work: (job: T) => Promise<void>,
): Promise<void> {
  const left = jobs.values();
  const worker = async (): Promise<void> => {
    for (const job of left) await work(job);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
