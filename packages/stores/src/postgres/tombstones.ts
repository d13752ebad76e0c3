import { createHash } from "node:crypto";
import type { SessionStore, Tombstone } from "@millrace/core/ports";
import { removeFamily } from "@millrace/core/store-kit";
import { parseJsonText } from "@millrace/core/wire";
import { sessionId, sessionUid } from "@millrace/core/writing";
import type { Actor, SessionUid } from "@millrace/core";
import type { Rows } from "./connection.ts";
import { askerOf, readingCalls } from "./reading.ts";
import type { ReadContext } from "./reading.ts";
import { decodeId, encodeName } from "./row.ts";

/** The columns that `readTombstone` reads. */
export const tombstoneColumns = "uid, root, actor, owner, extract(epoch from at) as seconds";

/** The calls that remove sessions and find what is left of them. Each session is one transaction. */
export function tombstoneCalls(
  context: ReadContext,
  forget: (uid: SessionUid) => void,
): Pick<SessionStore, "remove" | "tombstone"> {
  const { tenant } = context;
  const ask = askerOf(context);
  const { list } = readingCalls(context);
  const family = {
    list,
    removeOne: async (uid: SessionUid, { root, actor }: Pick<Tombstone, "root" | "actor">) => {
      forget(uid);
      await ask(["remove", uid, root, actor === undefined ? null : JSON.stringify(actor)]);
    },
    tombstonesOf: async (root: SessionUid) => {
      const [rows = []] = await ask(["tombstonesOf", tenant, root]);
      return rows.map(readTombstone);
    },
  };
  return {
    remove: (uid, options) => removeFamily(family, uid, options),
    tombstone: async (name) => {
      const hash = createHash("sha256").update(encodeName(sessionId(name)));
      const [[row] = []] = await ask(["tombstone", tenant, hash.digest()]);
      return row && readTombstone(row);
    },
  };
}

function readTombstone({ uid, root, actor, owner, seconds }: Rows[number]): Tombstone {
  return {
    uid: sessionUid(String(uid)),
    root: sessionUid(String(root)),
    at: Math.round(Number(seconds) * 1_000),
    ...(actor === null ? {} : { actor: parseJsonText(actor as string) as Actor }), // as it was written
    ...(owner === null ? {} : { owner: decodeId(owner) }),
  };
}
