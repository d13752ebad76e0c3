import { MillraceError } from "@millrace/core";
import type { Fact, FactBody, Item, PeopleFact, SessionUid } from "@millrace/core";
import type { Bound, Rows } from "./connection.ts";
import { readBody } from "./fact-row.ts";
import { encodeId, encodeKey } from "./row.ts";
import type { Looks, Seen } from "./rules.ts";
import type { Statements } from "./statements.ts";

/** Ids that a write takes for unused: of an item, of a key, of an input. */
export type Unused = readonly [item: Buffer | null, key: Buffer | null, input: Buffer | null];

/** Takes nothing for unused. */
export const noneUnused: Unused = [null, null, null];

/** Binds a statement to a session. */
export type Bind = (name: keyof Statements, ...values: readonly unknown[]) => Bound;

/** How a call is looked up, and what was found. */
export interface Lookup {
  readonly statements: readonly Bound[];
  readonly see: (found: readonly Rows[]) => Seen;
}

/** The facts about an input or a question, and those that may undo them. */
const typesOf: Readonly<Record<PeopleFact["type"], readonly [own: Types, others: Types]>> = {
  input_accepted: [["input_accepted"], []],
  queue_updated: [
    ["input_accepted", "queue_updated", "item_committed", "item_replaced"],
    ["session_claimed"],
  ],
  approval_resolved: [
    ["approval_requested", "approval_resolved"],
    ["run_started", "run_finished", "session_claimed"],
  ],
};
type Types = readonly FactBody["type"][];

/** The statements that find what a call needs to know. */
export function lookUp(uid: SessionUid, looks: Looks, bind: Bind): Lookup {
  const { itemId, key, about, all = false } = looks;
  const statements: Bound[] = [];
  /** Gives the place of a statement's rows among what is found. */
  const ask = (...[name, ...values]: Parameters<Bind>): number =>
    statements.push(bind(name, ...values)) - 1;
  const item = itemId === undefined ? undefined : ask("item", encodeId(itemId));
  const keyed = key === undefined ? undefined : ask("keyed", encodeKey(key));
  const people = about && ask("about", encodeId(subjectOf(about)), ...typesOf[about.type]);
  const whole = all ? ask("read", 0, null) : undefined;
  return {
    statements,
    see: (found) => {
      const factsAt = (place: number | undefined): readonly Fact[] =>
        readFacts(uid, place === undefined ? [] : found[place]);
      const [stored] = factsAt(item);
      return {
        item: stored && itemOf(stored),
        keyed: factsAt(keyed)[0],
        about: factsAt(people),
        all: factsAt(whole),
      };
    },
  };
}

/** Reads the bodies of facts. */
export function readFacts(uid: SessionUid, rows: Rows = []): readonly Fact[] {
  return rows.map(({ body }) => readBody(uid, body));
}

/** What must be unused if a call is to be stored without a look. Nothing if it can't be said so. */
export function unusedOf({ itemId, key, about, all = false }: Looks): Unused | undefined {
  if (all || (about !== undefined && about.type !== "input_accepted")) return undefined;
  return [
    itemId === undefined ? null : encodeId(itemId),
    key === undefined ? null : encodeKey(key),
    about === undefined ? null : encodeId(subjectOf(about)),
  ];
}

function subjectOf(body: PeopleFact): string {
  return body.type === "approval_resolved" ? body.approvalId : body.inputId;
}

function itemOf(fact: Fact): Item {
  if (fact.type === "item_committed" || fact.type === "item_replaced") return fact.item;
  throw new MillraceError("corrupt_session", `fact ${fact.n} of ${fact.sessionId} holds no item`);
}
