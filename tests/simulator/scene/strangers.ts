/** Users who ask for a session of another user, as if it were missing, or want the name of a sub-agent's session. */
import type { Report } from "../judge/report.ts";
import type { HttpNetwork } from "../world/http-network.ts";
import { SimulatedProcess } from "../world/simulated-process.ts";
import { simulation } from "../world/simulation.ts";
import { randomOf } from "../world/streams.ts";
import { clientHosts, sessionsOf, userOf } from "./plan.ts";

export interface StrangersOptions {
  /** To the web nodes. */
  readonly network: Pick<HttpNetwork, "fetch">;
  readonly report: Pick<Report, "add">;
  readonly minutes: number;
}

const doors = ["", "/items", "/approvals", "/events", "/export"] as const;

/** How long a stranger waits for an answer. */
const answerMs = 10_000;

/** One asks about four times a minute. */
export function scheduleStrangers({ network, report, minutes }: StrangersOptions): void {
  const { seed } = simulation();
  const random = randomOf(`${seed}/strangers`);
  const process = new SimulatedProcess("stranger", 1, seed);
  for (let at = 10_000; at < minutes * 60_000; at += random.next() * 30_000) {
    const host = random.pick(clientHosts);
    const other = random.pick(clientHosts.filter((each) => userOf(each) !== userOf(host)));
    const [id, door] = [random.pick(sessionsOf(userOf(other))), random.pick(doors)];
    const asks = async (): Promise<void> => {
      const [foreign, missing] = await Promise.all(
        [id, "missing"].map((each) => answerTo(network, host, `/v1/sessions/${each}${door}`)),
      );
      // An answer that is lost, or a server that fails, says nothing about who may read.
      if (foreign === undefined || missing === undefined || foreign === missing) return;
      report.add(
        "access",
        `${host} gets ${foreign} for ${id}${door}, and ${missing} for a missing one`,
      );
    };
    simulation().schedule(at, process, `asks for ${id}${door}`, () => void asks());
  }
  const takes = async (): Promise<void> => {
    const answer = await network
      .fetch("http://web/v1/sessions", {
        method: "POST",
        headers: {
          authorization: "Bearer page0",
          "content-type": "application/json",
          "idempotency-key": "key-of-a-stranger",
        },
        body: JSON.stringify({ id: "sub_uid_item_key_1_1_0" }),
        signal: AbortSignal.timeout(answerMs),
      })
      .catch(() => undefined);
    if (answer?.ok === true) report.add("access", "a user makes the session of a sub-agent");
  };
  const at = random.next() * minutes * 60_000;
  simulation().schedule(at, process, "takes the name of a sub-agent", () => void takes());
}

async function answerTo(
  { fetch }: StrangersOptions["network"],
  host: string,
  path: string,
): Promise<string | undefined> {
  const headers = { authorization: `Bearer ${host}` };
  try {
    const signal = AbortSignal.timeout(answerMs);
    const answer = await fetch(`http://web${path}`, { headers, signal });
    if (answer.ok || answer.status >= 500) return answer.ok ? "a session" : undefined;
    const { code, detail } = (await answer.json()) as Problem;
    return `${answer.status} ${code} ${detail}`;
  } catch {
    return undefined;
  }
}

interface Problem {
  readonly code?: string;
  readonly detail?: string;
}
