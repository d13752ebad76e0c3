// The page of the chat. Its address names the session: a second tab, or a phone with the same account, shows
// the same one.
import { createClient } from "@millrace/client";
import type { ClientSession, PartOf, SessionDetails } from "@millrace/client";
import { useSession, useSessions } from "@millrace/client/react";
import { showQuestion } from "@millrace/core/reading";
import { StrictMode, memo, useLayoutEffect, useRef, useState, useSyncExternalStore } from "react";
import type { KeyboardEvent, ReactNode } from "react";
import { createRoot } from "react-dom/client";
import type { millrace } from "./server.ts";

const client = createClient<typeof millrace>({ url: "/agent" });
type Session = ReturnType<typeof client.session>;

const open = (id: string = crypto.randomUUID()): void => location.assign(`#${id}`);
if (location.hash === "") location.replace(`#${crypto.randomUUID()}`);

function useAddress(): string {
  const follow = (changed: () => void): (() => void) => {
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  };
  return useSyncExternalStore(follow, () => location.hash.slice(1));
}

function App(): ReactNode {
  const id = useAddress();
  const [isOpen, setOpen] = useState(false);
  const { sessions, refresh } = useSessions(client);
  const title = sessions.find((session) => session.id === id)?.title;
  return (
    <>
      <Sessions sessions={sessions} current={id} isOpen={isOpen} onPick={() => setOpen(false)} />
      {isOpen && (
        <button className="shade" aria-label="Close sessions" onClick={() => setOpen(false)} />
      )}
      <Chat key={id} id={id} title={title} onTitle={refresh} onMenu={() => setOpen(!isOpen)} />
    </>
  );
}

const says = { idle: "", running: "running", paused: "waits for you" } as const;

interface SessionsProps {
  readonly sessions: readonly SessionDetails[];
  readonly current: string;
  readonly isOpen: boolean;
  readonly onPick: () => void;
}

function Sessions(props: SessionsProps): ReactNode {
  const pick = (id?: string): void => {
    open(id);
    props.onPick();
  };
  return (
    <nav aria-label="Sessions" className={props.isOpen ? "open" : ""}>
      <strong>Millrace</strong>
      <button className="new" onClick={() => pick()}>
        New session
      </button>
      {props.sessions.map(({ id, title, status }) => (
        <button
          key={id}
          aria-current={id === props.current ? "page" : undefined}
          onClick={() => pick(id)}
        >
          <span>{title ?? "Untitled"}</span>
          <small>{says[status]}</small>
        </button>
      ))}
    </nav>
  );
}

const breaks = { connecting: "", live: "", reconnecting: "Reconnecting…", offline: "Offline" };

interface ChatProps {
  readonly id: string;
  readonly title: string | undefined;
  readonly onTitle: () => Promise<void>;
  readonly onMenu: () => void;
}

function Chat({ id, title, onTitle, onMenu }: ChatProps): ReactNode {
  const session = useSession(client, id);
  const { items, approvals, status, connection, error } = session;
  const isNew = items.length === 0 && session.earlier === undefined && !session.loading;
  const away = breaks[connection];
  const send = (text: string): void => {
    const { accepted } = session.send(text);
    if (!isNew) return;
    const name = (): Promise<void> => session.update({ title: text.slice(0, 80) });
    void accepted.then(name).then(onTitle, () => undefined);
  };
  return (
    <main aria-busy={status === "running"}>
      <header>
        <button className="burger" aria-label="Sessions" onClick={onMenu}>
          ☰
        </button>
        <h1>{title ?? "New session"}</h1>
        <span role="status">
          {away === "" ? says[status] : <span className="away">{away}</span>}
        </span>
      </header>
      <Follow of={session}>
        {isNew && <Hello onPick={send} />}
        {session.earlier && (
          <button
            className="btn earlier"
            onClick={() => void session.loadEarlier().catch(() => undefined)}
          >
            Show earlier
          </button>
        )}
        {items.map((item) => (
          <Item key={item.id} item={item} />
        ))}
        {approvals.map((ask) => (
          <Approval key={ask.id} ask={ask} onAllow={session.allow} onDeny={session.deny} />
        ))}
        {error && (
          <p className="fault" role="alert">
            <bdi>{error.message}</bdi> ({error.code})
          </p>
        )}
      </Follow>
      <Composer session={session} onSend={send} />
    </main>
  );
}

/** Scrolls with what comes, until somebody scrolls up. */
function Follow({ of, children }: { of: unknown; children: ReactNode }): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const isFollowing = useRef(true);
  const onScroll = (): void => {
    const { scrollHeight = 0, scrollTop = 0, clientHeight = 0 } = box.current ?? {};
    isFollowing.current = scrollHeight - scrollTop - clientHeight < 40;
  };
  useLayoutEffect(() => {
    if (isFollowing.current) box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [of]);
  return (
    <div className="scroll" ref={box} onScroll={onScroll} tabIndex={0} role="log" aria-live="off">
      <div className="column">{children}</div>
    </div>
  );
}

function Hello({ onPick }: { onPick: (text: string) => void }): ReactNode {
  const ideas = [
    "Two days in Oslo, please.",
    "What should I pack?",
    "Book a room near the station.",
  ];
  return (
    <div className="hello">
      A guide to Oslo. Its model plays a script.
      <div>
        {ideas.map((idea) => (
          <button key={idea} className="btn" onClick={() => onPick(idea)}>
            {idea}
          </button>
        ))}
      </div>
    </div>
  );
}

const Item = memo(({ item }: { item: Session["items"][number] }) =>
  item.parts.length === 0 ? null : (
    <article className={item.author}>
      {item.parts.map((part) => (
        <Part key={part.id} part={part} />
      ))}
      {item.stop === "aborted" && <div className="note">stopped</div>}
      {item.retry && (
        <div className="note">
          <bdi>{item.retry.cause.message}</bdi> another attempt follows
        </div>
      )}
    </article>
  ),
);

const Part = memo(({ part }: { part: PartOf<typeof client> }) => {
  if (part.kind === "text") return <p className={part.live ? "live" : undefined}>{part.text}</p>;
  if (part.kind === "reasoning")
    return (
      <details className="think" open={part.live}>
        <summary>{part.live ? "Thinking" : "Thought"}</summary>
        {part.text}
      </details>
    );
  if (part.kind === "tool_call") return <ToolCard part={part} />;
  return <small className="other">{part.kind}: this page shows no such part</small>;
});

type Call = Extract<PartOf<typeof client>, { kind: "tool_call" }>;
const marks = {
  writing: "",
  waiting: "",
  running: "",
  finished: "✓",
  failed: "✕",
  denied: "–",
  unknown: "?",
};

/** A line: what is called, and what it does now. Its arguments are there from their first letter. */
function ToolCard({ part }: { part: Call }): ReactNode {
  if (part.state === "waiting" && part.approvalId !== undefined) return null; // its question shows it
  return (
    <div className={`tool ${part.state}`}>
      <div>
        <span className="mark" aria-hidden="true">
          {marks[part.state]}
        </span>
        <b>{part.tool}</b>
        <span className="what">{doing(part)}</span>
        <small>{part.state}</small>
      </div>
    </div>
  );
}

/** The types of the agent's tools are known here, by the name of the tool. */
function doing(part: Call): string {
  if (part.state === "finished" && part.tool === "weather")
    return `${part.output.city}: ${part.output.celsius} °C, ${part.output.sky}`;
  if (part.state === "finished") return `${part.output.reference} · ${part.output.nights} nights`;
  if (part.state === "running") return part.message ?? part.raw;
  if (part.state === "failed" || part.state === "unknown") return part.message;
  if (part.state === "denied") return part.reason ?? "you said no";
  return part.raw;
}

interface ApprovalProps {
  readonly ask: Session["approvals"][number];
  readonly onAllow: ClientSession["allow"];
  readonly onDeny: ClientSession["deny"];
}

/** Shows exactly what will run. Any tab, and any device, may answer. */
function Approval({ ask, onAllow, onDeny }: ApprovalProps): ReactNode {
  const { tool, input, parsed } = showQuestion(ask);
  return (
    <section className="tool ask" aria-label={`Approve ${tool}`}>
      <div>
        <span className="mark" aria-hidden="true">
          !
        </span>
        <b>{tool}</b>
        <span className="what">waits for you</span>
      </div>
      <pre>
        {input.text} {input.counts}
      </pre>
      {parsed && (
        <pre>
          gets: {parsed.text} {parsed.counts}
        </pre>
      )}
      <div className="choices">
        <button className="btn go" onClick={() => onAllow(ask.id)}>
          Run once
        </button>
        <button className="btn" onClick={() => onDeny(ask.id)}>
          Deny
        </button>
        <small>any of your devices can answer</small>
      </div>
    </section>
  );
}

function Composer({
  session,
  onSend,
}: {
  session: Session;
  onSend: (text: string) => void;
}): ReactNode {
  const [text, setText] = useState("");
  const isBusy = session.status !== "idle";
  const submit = (): void => {
    if (text.trim() === "") return;
    if (isBusy) session.steer(text);
    else onSend(text);
    setText("");
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === "Escape" && isBusy) session.abort();
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  };
  return (
    <footer>
      <div className="dock">
        {session.queue.map((input) => (
          <div key={input.id} className="queued">
            <span>{input.text}</span>
            <button onClick={() => session.takeBack(input.id)}>take back</button>
          </div>
        ))}
        <form action={submit}>
          <textarea
            aria-label="Message"
            rows={1}
            autoFocus
            value={text}
            placeholder={isBusy ? "Steer the run…" : "Ask the guide…"}
            onChange={({ target }) => setText(target.value)}
            onKeyDown={onKey}
          />
          <div>
            <span>{isBusy ? "Enter steers · Esc stops" : "Enter sends"}</span>
            {isBusy ? (
              <button
                type="button"
                className="btn stop"
                disabled={session.stopping}
                onClick={() => session.abort()}
              >
                {session.stopping ? "Stopping" : "Stop"}
              </button>
            ) : (
              <button className="btn go">Send</button>
            )}
          </div>
        </form>
      </div>
    </footer>
  );
}

const root = document.querySelector("#root");
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
