import { runId, sessionUid } from "@millrace/core/writing";
import type { DriverIndex, LivingSign } from "@millrace/core/ports";
import type { Rows } from "./connection.ts";
import { askerOf } from "./reading.ts";
import type { ReadContext } from "./reading.ts";
import { decodeId, decodeName, encodeId } from "./row.ts";

/** Which part of the index is used. */
export interface IndexScope {
  /** Beats hold for all tenants: a worker has one sign of life, whatever it drives. */
  readonly sharedBeats: boolean;
  /** Sessions of all tenants are due. */
  readonly allDue: boolean;
}

/** The sessions that have work, and the signs of life of drivers. */
export function driverIndex(
  context: ReadContext,
  { sharedBeats, allDue }: IndexScope,
): DriverIndex {
  const { tenant } = context;
  const ask = askerOf(context);
  return {
    // Counted twice if its answer was lost: a sign of life all the same.
    beat: async (driver) => {
      const name = encodeId(driver);
      await ask(sharedBeats ? ["beatAcross", name] : ["beat", tenant, name]);
    },
    leave: async (driver) => {
      const name = encodeId(driver);
      await ask(sharedBeats ? ["leaveAcross", name] : ["leave", tenant, name]);
    },
    find: async (uid) => {
      const [[row] = []] = await ask(["driver", uid, tenant]);
      return row && signOf(row);
    },
    due: async ({ limit = 100, except } = {}) => {
      const own = except === undefined ? null : encodeId(except);
      const [rows = []] = await ask(
        allDue ? ["dueAcross", own, limit] : ["due", tenant, own, limit],
      );
      return rows.map((row) => ({
        uid: sessionUid(String(row["uid"])),
        sessionId: decodeName(row["name"] as Buffer), // a bytea column
        ...(allDue && { tenant: String(row["tenant"]) }),
        head: Number(row["head"]),
        incarnation: Number(row["incarnation"]),
        run: row["run"] === null ? undefined : runId(decodeId(row["run"])),
        sign: signOf(row),
      }));
    },
  };
}

function signOf({ driver, beat, engine }: Rows[number]): LivingSign | undefined {
  if (driver === null) return undefined;
  return {
    driver: decodeId(driver),
    beat: beat === null ? undefined : Number(beat),
    by: engine === null ? undefined : decodeId(engine),
  };
}
