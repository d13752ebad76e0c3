import { AsyncLocalStorage } from "node:async_hooks";
import type { Fact, Model } from "@millrace/core";
import type { CommitRequest, EventLog, ModelStream } from "@millrace/core/ports";
import type { PostgresStore } from "@millrace/stores/postgres";
import type { TemporalWorkerOptions } from "@millrace/temporal/worker";
import type { Stations } from "./stations.ts";
import type { StatementCuts } from "./statement-cuts.ts";

/** The uid of the session whose activity runs. */
const current = new AsyncLocalStorage<string>();

type Sdk = NonNullable<TemporalWorkerOptions["sdk"]>;

/** Temporal's own worker with stations before and after the activity of a reply. */
export function watchActivities(stations: Stations): Sdk {
  return {
    interceptors: {
      activity: [
        ({ info }) => ({
          inbound: {
            execute: async (input, next) => {
              const [{ uid }] = input.args as [{ readonly uid: string }]; // of every step
              const isReply = info.activityType === "reply";
              if (isReply) stations.pass(uid, "reply begins");
              const result: unknown = await current.run(uid, () => next(input));
              if (isReply) stations.pass(uid, "step done");
              return result;
            },
          },
        }),
      ],
    },
  };
}

/** A store with stations round what a worker stores. */
export function watchStore(
  store: PostgresStore,
  stations: Stations,
  cuts: StatementCuts,
): PostgresStore {
  return {
    ...store,
    forTenant: (tenant) => watchStore(store.forTenant(tenant), stations, cuts),
    open: async (uid, request) => {
      if (request.intent !== undefined) stations.pass(uid, "call begins");
      const answer = await store.open(uid, request);
      if (request.intent !== undefined) stations.pass(uid, "call started");
      return answer;
    },
    commit: async (uid, request) => {
      const author = authorOf(request.fact);
      if (author === "model") {
        stations.pass(uid, "reply ends");
        if (stations.isDue(uid, "statement")) cuts.beforeCommit(() => stations.kill(uid));
        if (stations.isDue(uid, "commit sent")) cuts.beforeAnswer(() => stations.kill(uid));
      }
      if (author === "tool") stations.pass(uid, "result comes");
      const answer = await store.commit(uid, request);
      if (author === "tool" && answer.outcome === "committed") stations.pass(uid, "result stored");
      return answer;
    },
    append: async (uid, request) => {
      if (request.bodies.some(({ type }) => type === "compaction_finished"))
        stations.pass(uid, "summary");
      return await store.append(uid, request);
    },
  };
}

/** A log with stations before what is stored is announced. */
export function watchLog(log: EventLog, stations: Stations): EventLog {
  return {
    ...log,
    announce: async (uid, fact) => {
      const author = authorOf(fact);
      if (author === "model") stations.pass(uid, "reply stored");
      if (author === "tool") stations.pass(uid, "result announced");
      await log.announce(uid, fact);
    },
  };
}

/** A model with stations before the request, after its headers, and after each delta. */
export function watchModel(model: Model, stations: Stations): Model {
  const pass = (station: "request" | "answer" | "delta"): void => {
    const uid = current.getStore();
    if (uid !== undefined) stations.pass(uid, station);
  };
  return {
    id: model.id,
    stream: (request): ModelStream => {
      pass("request");
      const stream = model.stream(request);
      const { forEach } = stream;
      return {
        result: stream.result,
        ...(forEach !== undefined && {
          forEach: (visit) => {
            pass("answer");
            return forEach((delta) => {
              visit(delta);
              pass("delta");
            });
          },
        }),
        async *[Symbol.asyncIterator]() {
          pass("answer");
          for await (const delta of stream) {
            yield delta;
            pass("delta");
          }
        },
      };
    },
  };
}

function authorOf(fact: Fact | CommitRequest["fact"]): string | undefined {
  return fact.type === "item_committed" ? fact.item.author : undefined;
}
