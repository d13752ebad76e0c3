import type { SessionDetails } from "@millrace/client";
import { ApprovalCard, ConnectionBanner } from "@millrace/client/parts";
import { useSession } from "@millrace/client/react";
import { useEffect, useMemo, useState } from "react";
import type { DragEvent, ReactNode } from "react";
import { openSession } from "./address.ts";
import { Announcer } from "./announcer.tsx";
import { client, config, seen } from "./client.ts";
import type { Item, Session } from "./client.ts";
import { Composer, contentOf } from "./composer.tsx";
import { useDraft } from "./draft.ts";
import type { Draft } from "./draft.ts";
import { Failure } from "./failure.tsx";
import { Follow } from "./follow.tsx";
import { Header } from "./header.tsx";
import { Hello } from "./hello.tsx";
import { ItemView, textOf } from "./items.tsx";
import type { ItemActions } from "./items.tsx";
import { reportFailure } from "./notices.tsx";
import { SessionContext } from "./session-context.ts";
import { modelField } from "../shared.ts";

interface ChatProps {
  readonly id: string;
  readonly details: SessionDetails | undefined;
  readonly onChanged: () => Promise<void>;
  readonly onMenu: () => void;
  readonly onKeys: () => void;
}

/** One session: its messages, its run and the composer. */
export function Chat({ id, details, onChanged, onMenu, onKeys }: ChatProps): ReactNode {
  const session = useSession(client, id);
  const { items, approvals, status, error, earlier, loading } = session;
  const [draft, setDraft] = useDraft(id);
  const [chosen, setChosen] = useState(config.models[0]?.id);
  const [isDropping, setDropping] = useState(false);
  const isEmpty = items.length === 0 && earlier === undefined;
  const isNew = isEmpty && !loading;
  const modelId = details?.metadata[modelField] ?? (isNew ? chosen : config.models[0]?.id);
  const actions = useActions(id, details?.title, onChanged);
  useSeen(session);

  const send = (sent: Draft): void => {
    const title = titleOf(sent);
    const content = contentOf(sent);
    if (!isEmpty) return void session.send(content);
    if (chosen !== config.models[0]?.id) {
      const made = session.create({ title, metadata: { [modelField]: chosen } });
      return void made
        .then(() => session.send(content))
        .then(onChanged, reportFailure("The session was not made."));
    }
    const name = (): Promise<void> => session.update({ title });
    void session
      .send(content)
      .accepted.then(name)
      .then(onChanged, reportFailure("The session was not named."));
  };
  const onDrop = (event: DragEvent): void => {
    event.preventDefault();
    setDropping(false);
    setDraft({ ...draft, files: [...draft.files, ...event.dataTransfer.files] });
  };
  const last = items.findLast(({ author }) => author === "user");
  const retry = async (item: Item): Promise<void> => {
    const files = await filesOf(session, item);
    session.send(contentOf({ text: textOf(item), files }));
  };
  return (
    <main
      aria-busy={status === "running"}
      data-status={status}
      data-connection={session.connection}
      className={isDropping ? "dropping" : ""}
      onDragOver={(event) => {
        event.preventDefault();
        setDropping(true);
      }}
      onDragLeave={({ currentTarget, relatedTarget }) => {
        if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget)))
          setDropping(false);
      }}
      onDrop={onDrop}
    >
      <Header
        session={session}
        details={details}
        model={config.models.find((model) => model.id === modelId)}
        onChanged={onChanged}
        onMenu={onMenu}
        onKeys={onKeys}
      />
      <ConnectionBanner connection={session.connection} onReconnect={client.reconnect} />
      <SessionContext value={client.session(id)}>
        <Follow>
          {isNew && session.queue.length === 0 && (
            <Hello
              model={chosen}
              onModel={setChosen}
              onPick={(text) => send({ text, files: [] })}
            />
          )}
          {earlier && (
            <button
              className="btn earlier"
              onClick={() =>
                void session.loadEarlier().catch(reportFailure("Earlier messages were not loaded."))
              }
            >
              Show {earlier.count} earlier
            </button>
          )}
          {items.map((item) => (
            <ItemView key={item.id} item={item} actions={actions} />
          ))}
          {isStarting(session) && <Starting />}
          {approvals.map((ask) => (
            <ApprovalCard key={ask.id} ask={ask} onAllow={session.allow} onDeny={session.deny} />
          ))}
          <Notes session={session} />
          {error && <Failure session={session} onRetry={last && (() => retry(last))} />}
        </Follow>
      </SessionContext>
      <Composer session={session} draft={draft} onDraft={setDraft} onSend={send} />
      <Announcer session={session} />
    </main>
  );
}

/** What goes on with the run, or went on, apart from its messages. */
function Notes({ session }: { readonly session: Session }): ReactNode {
  const { compacting, released, lastRun } = session;
  const isLimited = lastRun?.outcome === "limited";
  return (
    <>
      {compacting && <div className="note">making room: older messages are summed up</div>}
      {released && <div className="note">its server has gone; another one goes on soon</div>}
      {isLimited && <div className="note">ended at a limit of the run</div>}
    </>
  );
}

/** Sent, and nothing came yet: the first sign of life is there before the first word. */
function isStarting({ status, items, queue }: Session): boolean {
  const last = items.at(-1);
  if (status === "idle") return queue.some(({ kind }) => kind === "prompt");
  return status === "running" && (last === undefined || last.author === "user");
}

function Starting(): ReactNode {
  return (
    <div className="starting" role="img" aria-label="Working">
      <i />
      <i />
      <i />
    </div>
  );
}

/** While a session is on the screen, all of it is seen. */
function useSeen(session: Session): void {
  const { id, head, items } = session;
  useEffect(() => {
    const mark = (): void => {
      if (document.visibilityState === "visible") seen.mark({ id, head, items });
    };
    mark();
    document.addEventListener("visibilitychange", mark);
    return () => document.removeEventListener("visibilitychange", mark);
  }, [id, head, items]);
}

/** What can be done with messages. The same object for all renders, so that messages stay memoised. */
function useActions(
  id: string,
  title: string | undefined,
  onChanged: () => Promise<void>,
): ItemActions {
  return useMemo(() => {
    const session = client.session(id);
    const fork = async (item: Item): Promise<Session> => {
      const made = await session.fork(item.id);
      await made.update({ title: `${title ?? "Untitled"} (fork)` });
      return made;
    };
    const open = (made: Session): void => {
      openSession(made.id);
      void onChanged();
    };
    return {
      onFork: (item) => void fork(item).then(open, reportFailure("The session was not forked.")),
      onResend: (item, text) => {
        const { items } = session;
        const before = items[items.findIndex((each) => each.id === item.id) - 1];
        const made = before === undefined ? Promise.resolve(client.session()) : fork(before);
        const go = async (other: Session): Promise<void> => {
          const files = await filesOf(session, item);
          await other.send(contentOf({ text, files })).accepted;
          if (before === undefined) await other.update({ title: titleOf({ text }) });
          open(other);
        };
        void made.then(go).catch(reportFailure("The message was not sent again."));
      },
    };
  }, [id, title, onChanged]);
}

/** A session is named after what it begins with. */
function titleOf({
  text,
  files,
}: {
  readonly text: string;
  readonly files?: readonly File[];
}): string {
  const [line = ""] = text.trim().split("\n");
  return line.slice(0, 80) || files?.[0]?.name.slice(0, 80) || "Untitled";
}

/** The files of a message, so that it can be sent again with them. One that can't be read any more is left out. */
async function filesOf(session: Session, { parts }: Item): Promise<readonly File[]> {
  const files = await Promise.all(
    parts.map(async (part) => {
      if (part.kind !== "media" && part.kind !== "file") return undefined;
      const bytes = part.bytes?.slice() ?? (part.blob && (await session.blob(part.blob.hash)));
      const name = part.kind === "file" ? part.name : (part.mediaType.split("/")[0] ?? "file");
      return bytes && new File([bytes], name, { type: part.mediaType });
    }),
  );
  return files.filter((file) => file !== undefined);
}
