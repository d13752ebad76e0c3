import { ToolCard, visibleText } from "@millrace/client/parts";
import { memo, useState } from "react";
import type { ReactNode } from "react";
import { Attachment } from "./attachments.tsx";
import { Boundary } from "./boundary.tsx";
import { config } from "./client.ts";
import type { Item, Part } from "./client.ts";
import { CopyButton } from "./code-block.tsx";
import { Markdown } from "./markdown.tsx";
import { Reasoning } from "./reasoning.tsx";
import { SubAgent } from "./sub-agent.tsx";
import { isUnderWay } from "./under-way.ts";

/** What can be done with a message. Left out: the session is read-only. */
export interface ItemActions {
  readonly onFork: (item: Item) => void;
  readonly onResend: (item: Item, text: string) => void;
}

interface ItemProps {
  readonly item: Item;
  readonly actions?: ItemActions | undefined;
}

/** The text of a message, as it is copied and edited. */
export function textOf({ parts }: Item): string {
  return parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n\n");
}

/** One message. Only one that has changed is rendered again. One that can't be shown is plain text. */
export const ItemView = memo((props: ItemProps): ReactNode => (
  <Boundary of={props.item} fallback={<PlainItem item={props.item} />}>
    <WholeItem {...props} />
  </Boundary>
));

/** Of a message that can't be shown: its text, without Markdown and without what can be done with it. */
function PlainItem({ item }: { readonly item: Item }): ReactNode {
  return (
    <article className={item.author}>
      <p dir="auto">{visibleText(textOf(item))}</p>
      <Note>this message can't be shown as it should be</Note>
    </article>
  );
}

function WholeItem({ item, actions }: ItemProps): ReactNode {
  const [isEdited, setEdited] = useState(false);
  if (item.parts.length === 0 && item.retry === undefined && item.stop !== "aborted") return null;
  const isUser = item.author === "user";
  if (isEdited && actions)
    return (
      <Editor
        text={textOf(item)}
        onCancel={() => setEdited(false)}
        onSend={(text) => {
          setEdited(false);
          actions.onResend(item, text);
        }}
      />
    );
  return (
    <article
      className={item.author}
      aria-label={isUser ? "You" : "Assistant"}
      data-live={item.live}
    >
      {item.parts.map((part) => (
        <PartView key={part.id} part={part} isUser={isUser} />
      ))}
      {item.stalledMs !== undefined && <Note>nothing has come for a while</Note>}
      {item.retry && <Note>{item.retry.cause.message} · another attempt follows</Note>}
      {item.stop === "aborted" && <Note>stopped</Note>}
      {item.stop === "length" && <Note>cut at the model's limit</Note>}
      {item.stop === "truncated" && <Note>the connection to the model was cut</Note>}
      {actions && !item.live && (
        <div className={item.stop === "tools" ? "actions over" : "actions"}>
          <CopyButton text={textOf(item)} />
          {isUser && (
            <button type="button" className="quiet" onClick={() => setEdited(true)}>
              Edit
            </button>
          )}
          <button type="button" className="quiet" onClick={() => actions.onFork(item)}>
            Fork
          </button>
        </div>
      )}
    </article>
  );
}

function Note({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <div className="note">
      <bdi>{children}</bdi>
    </div>
  );
}

const showItem = (item: Item): ReactNode => <ItemView key={item.id} item={item} />;

const PartView = memo(
  ({ part, isUser }: { readonly part: Part; readonly isUser: boolean }): ReactNode => {
    switch (part.kind) {
      case "text":
        // What a person wrote is shown as it was written.
        if (isUser) return <p dir="auto">{visibleText(part.text)}</p>;
        return <Markdown text={part.text} live={part.live} />;
      case "reasoning":
        return <Reasoning text={part.text} live={part.live} />;
      case "tool_call":
        // Its question shows it.
        if (part.state === "waiting" && part.approvalId !== undefined) return null;
        if (!config.subAgents.includes(part.tool)) return <ToolCard part={part} />;
        // Open from the start if it is to work: it may ask something.
        return (
          <ToolCard part={part} defaultOpen={isUnderWay(part)}>
            <SubAgent callId={part.callId} show={showItem} />
          </ToolCard>
        );
      case "media":
      case "file":
        return <Attachment part={part} />;
      default:
        return <small className="other">{part.kind}: this page has no way to show it</small>;
    }
  },
);

interface EditorProps {
  readonly text: string;
  readonly onSend: (text: string) => void;
  readonly onCancel: () => void;
}

/** A message that is written anew. What came after it stays in the session that it was in. */
function Editor({ text, onSend, onCancel }: EditorProps): ReactNode {
  const [draft, setDraft] = useState(text);
  return (
    <form
      className="editor"
      onKeyDown={({ key }) => key === "Escape" && onCancel()}
      onSubmit={(event) => {
        event.preventDefault();
        if (draft.trim() !== "") onSend(draft);
      }}
    >
      <textarea
        aria-label="Edit the message"
        autoFocus
        value={draft}
        onChange={({ target }) => setDraft(target.value)}
      />
      <div className="row">
        <small>goes on in a new session; this one stays as it is</small>
        <button type="button" className="btn" onClick={onCancel}>
          Cancel
        </button>
        <button className="btn go">Resend</button>
      </div>
    </form>
  );
}
