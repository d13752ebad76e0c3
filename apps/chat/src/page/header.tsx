import type { SessionDetails } from "@millrace/client";
import { visibleText } from "@millrace/client/parts";
import { useRef, useState } from "react";
import type { ReactNode } from "react";
import { openSession } from "./address.ts";
import { client } from "./client.ts";
import type { Session } from "./client.ts";
import { Dialog } from "./dialogs.tsx";
import { Meters } from "./meters.tsx";
import { reportFailure } from "./notices.tsx";
import type { ChatModel } from "../shared.ts";

interface HeaderProps {
  readonly session: Session;
  readonly details: SessionDetails | undefined;
  readonly model: ChatModel | undefined;
  readonly onChanged: () => Promise<void>;
  readonly onMenu: () => void;
  readonly onKeys: () => void;
}

const endings = { markdown: "md", jsonl: "jsonl", html: "html" } as const;
type Format = keyof typeof endings;

/** The name of the session, what it has used, and what can be done with it. */
export function Header(props: HeaderProps): ReactNode {
  const { session, details, model, onChanged, onMenu, onKeys } = props;
  const [isNamed, setNamed] = useState(false);
  const [isRemoved, setRemoved] = useState(false);
  const menu = useRef<HTMLDivElement>(null);
  const title = details?.title ?? (session.items.length === 0 ? "New session" : "Untitled");
  const act = (work: () => void) => () => {
    menu.current?.hidePopover();
    work();
  };
  const rename = (name: string): void => {
    setNamed(false);
    void session
      .update({ title: name })
      .then(onChanged, reportFailure("The session was not renamed."));
  };
  const remove = (): void => {
    setRemoved(false);
    void session.remove().then(onChanged, reportFailure("The session was not deleted."));
    client.session(session.id).close();
    openSession();
  };
  return (
    <header>
      <button className="icon burger" aria-label="Sessions" onClick={onMenu}>
        ☰
      </button>
      {isNamed ? (
        <Name name={details?.title ?? ""} onName={rename} onCancel={() => setNamed(false)} />
      ) : (
        <h1>
          <bdi>{visibleText(title)}</bdi>
        </h1>
      )}
      {model && <span className="model wide">{model.name}</span>}
      <Meters items={session.items} usage={session.usage} model={model} />
      <button className="icon" aria-label="Session menu" popoverTarget="session-menu">
        ⋯
      </button>
      <div id="session-menu" popover="auto" ref={menu} className="menu">
        {details && <button onClick={act(() => setNamed(true))}>Rename</button>}
        {details &&
          Object.keys(endings).map((format) => (
            <button key={format} onClick={act(() => void save(session, format as Format, title))}>
              Export as {format === "jsonl" ? "JSONL" : format === "html" ? "HTML" : "Markdown"}
            </button>
          ))}
        <button onClick={act(onKeys)}>Keys</button>
        {details && (
          <button className="danger" onClick={act(() => setRemoved(true))}>
            Delete
          </button>
        )}
      </div>
      <Dialog isOpen={isRemoved} label="Delete the session" onClose={() => setRemoved(false)}>
        <h2>Delete this session?</h2>
        <p>It is removed for ever, with its files. A run that is on is stopped.</p>
        <div className="row">
          <button className="btn danger" onClick={remove}>
            Delete
          </button>
          <button className="btn" onClick={() => setRemoved(false)}>
            Keep
          </button>
        </div>
      </Dialog>
    </header>
  );
}

interface NameProps {
  readonly name: string;
  readonly onName: (name: string) => void;
  readonly onCancel: () => void;
}

function Name({ name, onName, onCancel }: NameProps): ReactNode {
  const [draft, setDraft] = useState(name);
  return (
    <form
      className="name"
      onSubmit={(event) => {
        event.preventDefault();
        onName(draft.trim());
      }}
      onKeyDown={({ key }) => key === "Escape" && onCancel()}
    >
      <input
        aria-label="Name of the session"
        autoFocus
        maxLength={200}
        value={draft}
        onChange={({ target }) => setDraft(target.value)}
        onBlur={onCancel}
      />
    </form>
  );
}

/** Saves the whole session as a file. */
async function save(session: Session, format: Format, title: string): Promise<void> {
  const file = await session.export(format);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  const name = title.replaceAll(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60) || "session";
  link.download = `${name}.${endings[format]}`;
  link.click();
  URL.revokeObjectURL(link.href);
}
