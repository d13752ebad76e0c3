/**
 * Who may write, by a model of the fences beside the store: the claims and the openings that it answered with
 * yes. Some broken fences change no fact and no view, since another rule catches what they let through; this
 * oracle sees them all the same.
 */
import type { SessionUid } from "@millrace/core";
import type { SessionStore } from "@millrace/core/ports";
import { unpackEpoch } from "../../../packages/core/src/event/epoch.ts";
import type { Epoch } from "../../../packages/core/src/event/epoch.ts";
import type { Report } from "./report.ts";

interface Holder {
  incarnation: number;
  readonly floors: Map<number, Epoch>;
}

/** The store, with a report of each call that it should have refused. */
export function guarded(store: SessionStore, report: Pick<Report, "add">): SessionStore {
  const holders = new Map<SessionUid, Holder>();
  const holderOf = (uid: SessionUid): Holder => {
    const known = holders.get(uid) ?? { incarnation: 0, floors: new Map() };
    holders.set(uid, known);
    return known;
  };
  const expect = (call: string, uid: SessionUid, holds: boolean, why: string): void => {
    if (!holds) report.add("fence", `${call} of ${uid} was carried out though ${why}`);
  };
  return {
    ...store,
    claim: async (uid, request) => {
      const result = await store.claim(uid, request);
      if (result.outcome !== "claimed") return result;
      const holder = holderOf(uid);
      const { incarnation } = holder;
      expect("claim", uid, request.from === incarnation, `${request.from} is not ${incarnation}`);
      // Without it two drivers that both know of a prompt claim one after the other, and both ask the model.
      const isCurrent = request.head !== undefined || request.to !== undefined;
      expect("claim", uid, isCurrent, "it names no head that its driver has read");
      expect("claim", uid, result.incarnation > incarnation, "the incarnation does not rise");
      holder.incarnation = result.incarnation;
      return result;
    },
    append: async (uid, request) => {
      const result = await store.append(uid, request);
      if (result.outcome !== "appended") return result;
      const { incarnation, floors } = holderOf(uid);
      const isHeld = request.incarnation === incarnation;
      expect("append", uid, isHeld, `incarnation ${request.incarnation} is not ${incarnation}`);
      const [first] = result.facts;
      const follows = first === undefined || first.n === request.head + 1;
      expect("append", uid, follows, `its head was ${request.head}, and another one had come`);
      if (request.opens) floors.set(request.opens.lane, request.opens.epoch);
      return result;
    },
    open: async (uid, request) => {
      const result = await store.open(uid, request);
      if (result.outcome !== "opened") return result;
      const { incarnation, floors } = holderOf(uid);
      const of = unpackEpoch(request.epoch).incarnation;
      expect("open", uid, of === incarnation, `its epoch is of incarnation ${of}`);
      const floor = floors.get(request.lane) ?? 0;
      expect("open", uid, request.epoch > floor, "the floor of the lane is higher");
      floors.set(request.lane, request.epoch);
      return result;
    },
    commit: async (uid, request) => {
      const result = await store.commit(uid, request);
      if (result.outcome !== "committed") return result;
      const { incarnation, floors } = holderOf(uid);
      const { lane, epoch } = request.fact;
      const of = unpackEpoch(epoch).incarnation;
      expect("commit", uid, of === incarnation, `its epoch is of incarnation ${of}`);
      expect("commit", uid, floors.get(lane) === epoch, "another epoch holds the lane");
      return result;
    },
  };
}
