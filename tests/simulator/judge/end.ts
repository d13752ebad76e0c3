/** What must hold some seconds after everything works again. */
import type { Fact, Item } from "@millrace/core";
import { judge } from "../../chaos/oracle.ts";
import { textOfItem } from "../../kit/deployment/paced-agent.ts";
import type { Engines } from "../scene/engines.ts";
import type { WorldLedger } from "../scene/ledger.ts";
import type { Pages, ShownSession } from "../scene/pages.ts";
import type { Readers } from "../scene/readers.ts";
import type { SimulatedVendor } from "../scene/vendor.ts";
import type { HttpNetwork } from "../world/http-network.ts";
import type { Report } from "./report.ts";
import { textsOf } from "./views.ts";

export interface EndOptions {
  readonly engines: Pick<Engines, "sessions">;
  readonly ledger: WorldLedger;
  readonly pages: Pick<Pages, "sent" | "shown" | "promises">;
  readonly readers: Pick<Readers, "held">;
  readonly vendor: Pick<SimulatedVendor, "strict">;
  /** Between pages and web nodes. */
  readonly network: Pick<HttpNetwork, "carrying">;
  readonly report: Pick<Report, "add">;
}

/** Whether nothing is left to do, and everybody has been shown all of it. */
export async function isOver({ engines, pages }: EndOptions): Promise<boolean> {
  if (!pages.promises.areSettled) return false;
  const heads = new Map<string, number>();
  for (const { record, facts } of await engines.sessions()) {
    if (!isAtRest(facts)) return false;
    heads.set(record.sessionId, facts.length);
  }
  return pages.shown().every(({ id, view }) => view.head === 0 || view.head === heads.get(id));
}

/** Whether no page shows nothing of a session that is there. A page that has found none looks again later. */
export async function areFound({ engines, pages }: EndOptions): Promise<boolean> {
  const stored = new Set<string>((await engines.sessions()).map(({ record }) => record.sessionId));
  return pages.shown().every(({ id, view }) => view.head > 0 || !stored.has(id));
}

/** Judges the views of sessions that another page made and that were found late. */
export async function judgeFound({ engines, pages, report }: EndOptions): Promise<void> {
  for (const { record, facts } of await engines.sessions())
    for (const each of pages.shown())
      if (each.id === record.sessionId) judgeView(each, facts, report);
}

export async function judgeEnd(options: EndOptions): Promise<void> {
  const { engines, ledger, pages, readers, vendor, network, report } = options;
  for (const what of pages.promises.open()) report.add("settles", what);
  for (const { record, facts } of await engines.sessions()) {
    const { sessionId, uid } = record;
    if (!isAtRest(facts)) report.add("rests", `${sessionId} is not at rest`);
    const sent = pages.sent.filter(({ session }) => session === sessionId);
    const effects = ledger.effects.filter(({ effectKey }) => effectKey.startsWith(uid));
    const history = { sessionId, uid, facts, sent, effects, viewers: [], verified: true };
    for (const { kind, what } of judge(history)) report.add(`facts: ${kind}`, what);
    for (const fact of facts)
      if (fact.type === "run_finished" && fact.outcome === "failed")
        report.add("runs-end", `${fact.runId} failed: ${JSON.stringify(fact.cause)}`);
    const shown = pages.shown().filter(({ id, view }) => id === sessionId && view.head > 0);
    for (const each of shown) judgeView(each, facts, report);
    const texts = new Set(textsOf(facts));
    for (const { host, text } of readers.held.filter(({ session }) => session === sessionId))
      if (!texts.has(text))
        report.add("dialects", `${host} ends with ${text.slice(-60)}, not stored`);
  }
  for (const message of vendor.strict.refused) report.add("vendor-takes", message);
  for (const host of new Set(pages.shown().map((each) => each.host))) {
    const streams = network.carrying(host).filter(({ path }) => path.endsWith("/v1/events"));
    if (streams.length > 1) report.add("one-stream", `${host} has ${streams.length} streams`);
  }
}

/** Whether a session has nothing to do. A question that nobody answers keeps its run on. */
function isAtRest(facts: readonly Fact[]): boolean {
  let isOn = false;
  const prompts = new Set<string>();
  for (const fact of facts) {
    if (fact.type === "run_started") isOn = true;
    if (fact.type === "run_finished") isOn = false;
    if (fact.type === "input_accepted" && fact.input.kind === "prompt") prompts.add(fact.inputId);
    if (fact.type === "queue_updated") prompts.delete(fact.inputId);
    if (fact.type === "item_committed" && fact.inputId !== undefined) prompts.delete(fact.inputId);
  }
  return !isOn && prompts.size === 0;
}

function judgeView(
  { host, id, view }: ShownSession,
  facts: readonly Fact[],
  report: Pick<Report, "add">,
): void {
  const where = `${host} of ${id}`;
  if (view.head !== facts.length) {
    const what = `${where} has ${view.head} of ${facts.length} facts, ${view.connection}`;
    report.add("views-current", what);
    return;
  }
  const shown = view.items
    .filter(({ author }) => author !== "tool")
    .map((item) => textOfItem(item as Item)) // a view's items have the parts of the state's
    .filter((text) => text !== "");
  if (JSON.stringify(shown) !== JSON.stringify(textsOf(facts)))
    report.add("views-equal", `${where} shows other texts than are stored`);
}
