import { sessionUid } from "@millrace/core/writing";
import type { DriverIndex, LivingSign } from "@millrace/core/ports";
import type { Rows } from "./connection.ts";
import { askerOf } from "./reading.ts";
import type { ReadContext } from "./reading.ts";
import { decodeId, decodeName, encodeId } from "./row.ts";

/** The sessions of a tenant that have work, and the signs of life of its drivers. */
export function driverIndex(context: ReadContext): DriverIndex {
  const { tenant } = context;
  const ask = askerOf(context);
  return {
    // Counted twice if its answer was lost: a sign of life all the same.
    beat: async (driver) => void (await ask(["beat", tenant, encodeId(driver)])),
    leave: async (driver) => void (await ask(["leave", tenant, encodeId(driver)])),
    find: async (uid) => {
      const [[row] = []] = await ask(["driver", uid, tenant]);
      return row && signOf(row);
    },
    due: async ({ limit = 100, except } = {}) => {
      const own = except === undefined ? null : encodeId(except);
      const [rows = []] = await ask(["due", tenant, own, limit]);
      return rows.map((row) => ({
        uid: sessionUid(String(row["uid"])),
        sessionId: decodeName(row["name"] as Buffer), // a bytea column
        head: Number(row["head"]),
        incarnation: Number(row["incarnation"]),
        sign: signOf(row),
      }));
    },
  };
}

function signOf({ driver, beat }: Rows[number]): LivingSign | undefined {
  if (driver === null) return undefined;
  return { driver: decodeId(driver), beat: beat === null ? undefined : Number(beat) };
}
