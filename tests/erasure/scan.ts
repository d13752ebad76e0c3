import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { createClient } from "@redis/client";
import type { SessionStore } from "@millrace/core/ports";
import type { Pool } from "pg";

/** Which of the strings are in these texts, also as the bytes of UTF-8 or UTF-16 in hex. */
function foundIn(texts: readonly string[], markers: readonly string[]): ReadonlySet<string> {
  const whole = texts.join("\n");
  const hex = (text: string, encoding: "utf8" | "utf16le"): string => {
    const bytes = Buffer.from(text, encoding);
    return (encoding === "utf8" ? bytes : bytes.swap16()).toString("hex");
  };
  return new Set(
    markers.filter(
      (marker) =>
        whole.includes(marker) ||
        whole.includes(hex(marker, "utf8")) ||
        whole.includes(hex(marker, "utf16le")),
    ),
  );
}

/** Every row of every table, by the database's own list of them. */
export async function scanDatabase(
  pool: Pool,
  markers: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_catalog.pg_class c
     join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p', 'm') and n.nspname not in ('pg_catalog', 'information_schema')`,
  );
  const texts: string[] = [];
  for (const { name } of tables) {
    const { rows } = await pool.query<{ row: string }>(`select t::text as row from ${name} t`);
    texts.push(...rows.map(({ row }) => row));
  }
  return foundIn(texts, markers);
}

/** Every key of a Redis and what it holds. */
export async function scanRedis(
  url: string,
  markers: readonly string[],
): Promise<ReadonlySet<string>> {
  const client = await createClient({ url }).connect();
  try {
    const texts: string[] = [];
    for (const key of await client.keys("*")) {
      const type = await client.type(key);
      texts.push(key);
      if (type === "string") texts.push((await client.get(key)) ?? "");
      else if (type === "set") texts.push(...(await client.sMembers(key)));
      else if (type === "stream") texts.push(JSON.stringify(await client.xRange(key, "-", "+")));
      else if (type !== "none") throw new Error(`${key} is a ${type}, which no log makes`);
    }
    return foundIn(texts, markers);
  } finally {
    client.destroy();
  }
}

/** Every file of a folder: its name and its bytes. */
export async function scanFolder(
  folder: string,
  markers: readonly string[],
): Promise<ReadonlySet<string>> {
  const names = await readdir(folder, { recursive: true });
  const texts = await Promise.all(
    names.map((name) => readFile(join(folder, name), "latin1").catch(() => "")),
  );
  return foundIn([...names, ...texts], markers);
}

/** All that a store gives out, for one that keeps everything in memory. */
export async function scanCalls(
  store: SessionStore,
  markers: readonly string[],
): Promise<ReadonlySet<string>> {
  const records = await store.list({ limit: 1_000 });
  const texts = await Promise.all(
    records.map(async (record) => JSON.stringify([record, await store.read(record.uid)])),
  );
  return foundIn(texts, markers);
}
