// What servers and workers share.
import { postgresBlobs, postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";

export function openPorts(databaseUrl: string, redisUrl: string) {
  const allowPlain = process.env.ALLOW_PLAIN === "true"; // where the network on the way is trusted
  const store = postgresStore({ url: databaseUrl, acrossTenants: true, allowPlain });
  const blobs = postgresBlobs({ url: databaseUrl, allowPlain });
  const log = redisLog({ url: redisUrl, allowPlain });
  const close = async () => {
    await Promise.all([log, blobs, store].map((service) => service.close()));
  };
  return { store, blobs, log, allowPlain, close };
}
