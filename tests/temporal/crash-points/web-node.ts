/** A web node of a deployment, `createMillrace` on bare Node, that is killed at its stations. */
import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import { parseJsonText } from "@millrace/core/wire";
import { createMillrace } from "@millrace/server";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import { temporalDriver } from "@millrace/temporal/client";
import type { WebConfig } from "../../kit/deployment/deployment.ts";
import { pacedAgent } from "../../kit/deployment/paced-agent.ts";
import { reportReady, reportStrayErrors } from "../../kit/deployment/reports.ts";
import type { TemporalWay } from "../../kit/deployment/temporal-way.ts";
import { wideLimits } from "../../web/kit/wide-limits.ts";
import { Stations } from "./stations.ts";

// The test that starts it wrote it.
const config = parseJsonText(process.argv[2] ?? "") as WebConfig &
  TemporalWay & { readonly stations: string };
reportStrayErrors();
const stations = new Stations(config.stations);
const store = postgresStore({ url: config.postgres });
const driver = temporalDriver({ ...config.temporal, store });
/** The session whose wake was kept back: this process is killed once it has answered. */
let answering: string | undefined;

const millrace = createMillrace({
  // Its workers run another one; a server that drives nothing asks it nothing.
  agent: pacedAgent({ name: "web", effects: "", chunkMs: 1 }),
  authenticate: ({ headers }) => {
    const [, user] = /^Bearer (.+)$/.exec(headers.get("authorization") ?? "") ?? [];
    return user === undefined ? undefined : { tenant: "default", user };
  },
  store: () => ({
    ...store,
    accept: async (uid, key, body) => {
      stations.pass(uid, "accept");
      const answer = await store.accept(uid, key, body);
      stations.pass(uid, "accepted");
      return answer;
    },
  }),
  log: redisLog({ url: config.redis }),
  driver: {
    wake: (session) => {
      if (stations.isDue(session.uid, "wake")) answering = session.uid;
      else driver.wake(session);
    },
    close: driver.close,
  },
  secret: "the nodes of one deployment share it",
  limits: wideLimits,
});

/** Kills this process in the middle of the next frame of a session that is armed for it. */
function watchFrames(response: ServerResponse): void {
  const write = response.write.bind(response) as (...args: readonly unknown[]) => boolean;
  const watched = (chunk: string | Uint8Array, ...rest: readonly unknown[]): boolean => {
    const bytes = Buffer.from(chunk as string);
    const uid = stations
      .armed()
      .find((name) => bytes.includes(name) && stations.isDue(name, "frame"));
    if (uid === undefined) return write(chunk, ...rest);
    return write(bytes.subarray(0, bytes.length / 2), () => stations.kill(uid));
  };
  Object.assign(response, { write: watched });
}

const server = createServer((request, response) => {
  watchFrames(response);
  response.once("finish", () => {
    if (answering !== undefined) stations.kill(answering);
  });
  millrace.node(request, response);
});
server.listen(config.port, "127.0.0.1", () => reportReady());
