// What servers and workers share.
import { postgresBlobs, postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";

export async function openPorts(databaseUrl: string, redisUrl: string) {
  const store = postgresStore({ url: databaseUrl, acrossTenants: true });
  await store.migrate(); // each process may do it; one at a time does
  const blobs = postgresBlobs({ url: databaseUrl });
  const log = redisLog({ url: redisUrl });
  const close = async () => {
    await Promise.all([log, blobs, store].map((service) => service.close()));
  };
  return { store, blobs, log, close };
}
