// Tools that pretend: they take their time, report progress, fail and ask, and touch nothing.
import { defineTool } from "@millrace/agent";
import { z } from "zod";
import type { Pause } from "./pace.ts";

const lines = 10_000;

/** The tools of the agent and those of its colleague. They take as long as `pause` does. */
export function demoTools(pause: Pause) {
  const deploys = defineTool({
    name: "deploys",
    description: "Deploys of a service since a day",
    input: z.object({ service: z.string(), since: z.string() }),
    effect: "pure",
    run: async ({ service }, { signal }) => {
      await pause("deploys", 800, signal);
      return [
        { service, at: "Tue 14:10", commit: "9f31c0a", note: "drop unused indexes" },
        { service, at: "Wed 09:02", commit: "b77d1e4", note: "new receipt page" },
      ];
    },
  });

  const metrics = defineTool({
    name: "metrics",
    description: "A metric of a service over time",
    input: z.object({ metric: z.string(), window: z.string() }),
    effect: "pure",
    run: async ({ metric }, { progress, signal }) => {
      progress({ message: `asking for ${metric}` });
      await pause("metrics", 1_500, signal);
      throw new Error("timed out after 30 s; the metrics host did not answer");
    },
  });

  const slowQueries = defineTool({
    name: "slow_queries",
    description: "Reads the slow query log of an hour",
    input: z.object({ from: z.string(), to: z.string() }),
    effect: "pure",
    run: async ({ from, to }, { progress, append, signal }) => {
      for (let at = 0; at <= lines; at += 625) {
        progress({ message: `${from} to ${to} · ${at} of ${lines} lines` });
        if (at % 2_500 === 0) append(`${at} lines read, ${at / 625} statements above 1 s\n`);
        await pause("slow_queries", 220, signal);
      }
      return {
        statement: "select * from orders where customer_id = $1",
        calls: 4_112,
        p95: "2.4 s",
      };
    },
  });

  const explain = defineTool({
    name: "explain",
    description: "The plan of a statement",
    input: z.object({ sql: z.string() }),
    effect: "pure",
    run: async (_, { signal }) => {
      await pause("explain", 600, signal);
      return "Seq Scan on orders  (cost=0.00..48211.00 rows=3 width=212)\n  Filter: (customer_id = $1)";
    },
  });

  const runSql = defineTool({
    name: "run_sql",
    description: "Runs a statement that changes data",
    input: z.object({ database: z.string(), sql: z.string() }),
    approve: () => "ask",
    run: async (_, { progress, signal }) => {
      progress({ message: "building the index" });
      await pause("run_sql", 1_200, signal);
      return { ok: true, took: "41 s" };
    },
  });

  const readRunbook = defineTool({
    name: "read_runbook",
    description: "A page of the runbook",
    input: z.object({ page: z.string() }),
    effect: "pure",
    run: async ({ page }, { signal }) => {
      await pause("read_runbook", 900, signal);
      return `${page}: build indexes concurrently, one at a time, and watch the replication lag.`;
    },
  });
  return { own: [deploys, metrics, slowQueries, explain, runSql], colleague: [readRunbook] };
}
