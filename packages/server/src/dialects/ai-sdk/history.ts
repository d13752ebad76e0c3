import type { Fact, InputId, Item, SessionId, SessionUid } from "@millrace/core";
import { withoutUndone } from "@millrace/core/reading";
import { isJsonObject } from "@millrace/core/wire";
import { inputItemIdOf } from "@millrace/core/writing";
import { recordOf } from "../run-record.ts";
import { userParts } from "./parts.ts";
import type { BlobUrl } from "./parts.ts";
import type { Profile } from "./profiles.ts";
import { messageOf } from "./ui-message.ts";
import type { UiMessage } from "./ui-message.ts";

/** The field of a part's metadata in which a message of a page is named as that page names it. */
export const messageField = "aiSdk";

/** A session, and in whose way its messages are shown. */
export interface HistoryOptions {
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  readonly profile: Profile;
  readonly blobUrl: BlobUrl;
}

/**
 * The session as messages: what people sent, and one message for each run. What is being written is in its
 * stream; a run that is on is among them only where its replay begins the message anew.
 */
export function historyOf(facts: readonly Fact[], options: HistoryOptions): readonly UiMessage[] {
  const { blobUrl } = options;
  const messages: UiMessage[] = [];
  const waiting = new Map<InputId, UiMessage>();
  let run: WrittenRun | undefined;
  const end = (): void => {
    const message = run && runMessage(run, options);
    if (message !== undefined) messages.push(message);
    run = undefined;
  };
  for (const fact of withoutUndone(facts)) {
    if (fact.type === "run_started") {
      end();
      run = { id: fact.runId, isRun: true, facts: [] };
    }
    if (fact.type === "input_accepted" && fact.input.kind === "prompt") {
      const id = inputItemIdOf(fact.inputId);
      waiting.set(fact.inputId, userMessage({ id, parts: fact.input.parts }, blobUrl));
    }
    if (fact.type === "queue_updated") waiting.delete(fact.inputId);
    if (fact.type === "item_committed") {
      const { item, inputId } = fact;
      if (inputId !== undefined) waiting.delete(inputId);
      if (item.author === "user" && run?.isRun !== true) end();
      const isPrompt = item.author === "user" && run?.facts.some(isReply) !== true;
      if (isPrompt) messages.push(userMessage(item, blobUrl));
      else run ??= { id: item.id, isRun: false, facts: [] };
    }
    run?.facts.push(fact);
    if (fact.type === "run_finished") end();
  }
  end();
  return [...messages, ...waiting.values()];
}

/** The facts of one run, or of what a session began with before its first. */
interface WrittenRun {
  readonly id: string;
  readonly isRun: boolean;
  readonly facts: Fact[];
}

function runMessage(
  { id, isRun, facts }: WrittenRun,
  options: HistoryOptions,
): UiMessage | undefined {
  const record = recordOf(options, facts);
  if (isRun && record.phase === "on" && !options.profile.replays) return undefined;
  return messageOf(record, { ...options, messageId: id });
}

function isReply(fact: Fact): boolean {
  return fact.type === "item_committed" && fact.item.author !== "user";
}

/** What a person sent, with the id and the metadata that their page gave it. */
function userMessage(item: Pick<Item, "id" | "parts">, blobUrl: BlobUrl): UiMessage {
  const [first] = item.parts;
  const named = first !== undefined && "metadata" in first ? first.metadata?.[messageField] : {};
  const { id, metadata } = isJsonObject(named) ? named : {};
  return {
    id: typeof id === "string" ? id : item.id,
    role: "user",
    ...(metadata === undefined ? {} : { metadata }),
    parts: userParts(item.parts, blobUrl),
  };
}
