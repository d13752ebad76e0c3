// A dialect of your own: the text of a run and nothing else. An event's id counts the characters up to its end, so
// a reader that was cut off names the last id and gets the rest to the letter. Stop is the server's own route.
import type { ViewItem } from "@millrace/core";
import type { SessionRecord } from "@millrace/core/ports";
import { runIdOf } from "@millrace/core/writing";
import * as kit from "@millrace/dialects/kit";
import { attachmentsOf, fields, post, sentParts, sessionOf, text } from "@millrace/server/dialect";
import type { Dialect, RouteContext, RouteResponse } from "@millrace/server/dialect";

// #region encoder
/** Encodes one run for one reader, who has so many characters of it. */
class PlainEncoder implements kit.DialectEncoder {
  readonly #follower: kit.RunFollower;
  readonly #received: number;
  readonly #sent = new kit.SentItems();
  #length = 0;
  #isOver = false;

  constructor(run: kit.FollowedRun, received: number) {
    this.#follower = new kit.RunFollower(run);
    this.#received = received;
  }

  isOver = (): boolean => this.#isOver;

  encode(message: Parameters<kit.DialectEncoder["encode"]>[0]): string {
    if (!this.#follower.take(message)) return "";
    const { record } = this.#follower;
    if (record.phase === "coming") return "";
    let added = "";
    const encode = (sent: kit.SentItem, { parts }: ViewItem): true => {
      for (const [at, part] of parts.entries()) {
        const begun = sent.parts[at] ?? kit.beginSentPart(sent, part.id, part.kind);
        if (part.kind !== "text") continue;
        added += part.text.slice(begun.sent);
        begun.sent = part.text.length;
      }
      return true;
    };
    // The format can't take back what another attempt replaced: the reader is to ask for the run anew.
    const isKept = this.#sent.visit(record, { encode, retract: () => false });
    const lacking = added.slice(Math.max(0, this.#received - this.#length));
    this.#length += added.length;
    this.#isOver = !isKept || record.phase !== "on";
    const outcome = record.ended?.outcome ?? record.phase;
    if (!isKept) return event("restart", {});
    const grown = lacking === "" ? "" : `id: ${this.#length}\n${event("text", { text: lacking })}`;
    return this.#isOver ? grown + event("end", { outcome }) : grown;
  }
}
// #endregion

function event(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

type Run = Pick<kit.SessionRun, "runId" | "head">;

function stream(context: RouteContext, session: SessionRecord, run: Run): RouteResponse {
  const { uid, sessionId } = session;
  const received = Number(context.header("last-event-id")) || 0;
  return kit.dialectResponse(context, session, run.head, {
    name: `plain ${run.runId} ${received}`,
    open: () => new PlainEncoder({ uid, sessionId, ...run }, received),
    end: (reason) => (reason === "finished" ? "" : event("cut", { reason })),
  });
}

// #region routes
async function send(context: RouteContext): Promise<RouteResponse> {
  const body = context.body as { readonly id: string; readonly text: string }; // of the route's shape
  const session = await kit.openOrMake(context, context.params["chat"] ?? "");
  const parts = await sentParts({ kind: "prompt", text: body.text }, attachmentsOf(context));
  const keyed = { ...context, key: kit.keyOf("plain", body.id) }; // sent twice, it is stored once
  const { inputId, n } = await post(keyed, session, { kind: "prompt" }, parts);
  return stream(context, session, { runId: runIdOf(inputId), head: n - 1 });
}

async function resume(context: RouteContext): Promise<RouteResponse> {
  const { next, run, ended } = await kit.readSessionRuns(context, sessionOf(context));
  const newest = run ?? next ?? ended;
  return newest === undefined ? { status: 204 } : stream(context, sessionOf(context), newest);
}

const summary = "Plain: the text of a run";
const row = { summary, stream: "always", answers: { 200: { summary } } } as const;
const request = { kind: "json", large: true, shape: fields({ id: text, text }) } as const;
const sendRow = { method: "POST", path: "/plain/{chat}", bucket: "inputs" } as const;
const runRow = { method: "GET", path: "/plain/{id}/run", actions: ["read"] } as const;
const routes = [
  { ...row, ...sendRow, name: "plainSend", request, work: send },
  { ...row, ...runRow, name: "plainRun", work: resume },
];

export const plain: Dialect = { name: "plain", routes: routes.map(kit.dialectRoute) };
// #endregion
