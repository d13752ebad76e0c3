import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { memoryBackend, openSuiteTarget } from "./kit/suite-target.ts";

const ann = { tenant: "acme", user: "ann" };
const q1 = "q1-0b6d2f84c97e4a15";

interface Body {
  readonly [field: string]: unknown;
}

/** The JSON at the end of what curl printed. */
function jsonOf(printed: string): Body {
  return JSON.parse(printed.slice(printed.lastIndexOf("\n{") + 1)) as Body;
}

it("a whole session is spoken with curl: create, prompt, watch, resume, decide, stop", async () => {
  await using target = await openSuiteTarget("node", memoryBackend());
  const api = async (...given: readonly string[]): Promise<string> => {
    const common = ["-sS", "-H", `Authorization: ${target.as(ann)["authorization"]}`];
    const [path = "", ...rest] = given;
    const typed = ["-H", "Content-Type: application/json"];
    const { stdout } = await promisify(execFile)(
      "curl",
      [...common, ...typed, `${target.url}/v1${path}`, ...rest],
      { timeout: 30_000 },
    ).catch((error: unknown) => error as { readonly stdout: string }); // 28: --max-time has hung up
    return stdout;
  };
  const key = (text: string): readonly string[] => ["-H", `Idempotency-Key: ${text}`];
  const stream = ["-N", "-H", "Accept: text/event-stream"];

  const made = await api(
    "/sessions",
    "-i",
    ...key("new-7f3a9c2e51d04b68"),
    "-d",
    '{"id":"refunds","title":"Refund A1"}',
  );
  expect(made).toMatch(/^HTTP\/1\.1 201 /);
  expect(made).toMatch(/^location: sessions\/refunds\r$/im);
  expect(jsonOf(made)).toMatchObject({
    id: "refunds",
    title: "Refund A1",
    metadata: {},
    owner: "ann",
    status: "idle",
    head: 0,
  });

  const prompt = JSON.stringify({
    kind: "prompt",
    text: 'call refund {"order":"A1","cents":9000}',
  });
  const post = (): Promise<string> =>
    api("/sessions/refunds/inputs", "-i", ...key(q1), "-d", prompt);
  const accepted = { inputId: `input_${q1}`, runId: `run_${q1}`, n: 1 };
  const first = await post();
  expect(first).toMatch(/^HTTP\/1\.1 202 /);
  expect(jsonOf(first)).toEqual(accepted);
  const second = await post(); // the answer was lost on the way: the same line again
  expect(second).toMatch(/^idempotency-replayed: true\r$/im);
  expect(jsonOf(second)).toEqual(accepted);

  const watched = await api("/sessions/refunds/events?form=whole", ...stream, "--max-time", "1.5"); // hanging up stops nothing
  expect(watched).toMatch(/^retry: \d+\n: \d+\n\nid: 1\.[\w-]+\.\w+.*\ndata: \{"type":"snapshot"/);
  const [cursor = ""] = /(?<=^id: ).*/m.exec(watched) ?? [];
  const resumed = await api(
    "/sessions/refunds/events",
    ...stream,
    "-H",
    `Last-Event-ID: ${cursor}`,
    "--max-time",
    "1",
  );
  expect(resumed).toMatch(/^retry: \d+\n: \d+\n/);
  expect(resumed).not.toContain('"type":"snapshot"');

  const { approvals } = JSON.parse(await api("/sessions/refunds/approvals")) as {
    readonly approvals: readonly { readonly id: string; readonly hash: string }[];
  };
  const [{ id, hash } = { id: "", hash: "" }] = approvals;
  expect(id).toMatch(new RegExp(`^approval_${q1}_`));
  const decide = (body: object): Promise<string> =>
    api(`/sessions/refunds/approvals/${id}`, "-d", JSON.stringify(body));
  expect(JSON.parse(await decide({ decision: "allow", hash }))).toEqual({
    decision: "allow",
    actor: { user: "ann", via: "http" },
  });
  expect(JSON.parse(await decide({ decision: "deny" }))).toMatchObject({
    type: "urn:millrace:problem:settled",
    status: 409,
    code: "settled",
    retryable: false,
  });

  const ended = await api(`/sessions/refunds/runs/run_${q1}`, "-H", "Prefer: wait=10");
  expect(JSON.parse(ended)).toMatchObject({
    runId: `run_${q1}`,
    status: "finished",
    outcome: "completed",
    text: "done: refunded",
  });

  const q2 = "q2-4e1c77d09ab35f26";
  await api("/sessions/refunds/inputs", ...key(q2), "-d", '{"kind":"prompt","text":"slow 500 20"}');
  const stopped = await api(
    "/sessions/refunds/abort",
    "-d",
    JSON.stringify({ runId: `run_${q2}`, reason: "stop button" }),
  );
  expect(JSON.parse(stopped)).toEqual({ runId: `run_${q2}` });

  const answer = await api(
    "/sessions/refunds/inputs",
    ...stream,
    ...key("q3-4e1c77d09ab35f26"),
    "-d",
    '{"kind":"prompt","text":"say You are welcome."}',
  );
  expect(answer).toContain("You are welcome.");
  expect(answer.trimEnd()).toMatch(
    /data: \{[^\n]*"type":"stream_ended"[^\n]*"reason":"finished"[^\n]*\}$/,
  );
});
