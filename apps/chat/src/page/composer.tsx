import { InputQueue, visibleText } from "@millrace/client/parts";
import { useEffect, useRef } from "react";
import type { ClipboardEvent, KeyboardEvent, ReactNode } from "react";
import { showSize } from "./attachments.tsx";
import type { Session } from "./client.ts";
import { emptyDraft } from "./draft.ts";
import type { Draft } from "./draft.ts";

interface ComposerProps {
  readonly session: Session;
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
  /** Sends what is written as a prompt. */
  readonly onSend: (draft: Draft) => void;
}

/** What is sent of a draft. */
export function contentOf({ text, files }: Draft): string | readonly (string | File)[] {
  if (files.length === 0) return text;
  return text.trim() === "" ? files : [text, ...files];
}

/** The composer. Its hint shows what Enter does now; Stop is always at the same position. */
export function Composer({ session, draft, onDraft, onSend }: ComposerProps): ReactNode {
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const { queue, stopping, steer, followUp, takeBack, abort } = session;
  const isBusy = session.status !== "idle";
  const isEmpty = draft.text.trim() === "" && draft.files.length === 0;
  useEscape(isBusy, () => void abort());

  const submit = (isLater = false): void => {
    if (isEmpty) return;
    if (!isBusy) onSend(draft);
    else if (isLater) followUp(contentOf(draft));
    else steer(contentOf(draft));
    onDraft(emptyDraft);
  };
  const edit = (input: Session["queue"][number]): void => {
    takeBack(input.id);
    onDraft({ ...draft, text: draft.text === "" ? input.text : `${input.text}\n${draft.text}` });
    field.current?.focus();
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === "ArrowUp" && event.altKey) {
      const last = queue.at(-1);
      if (last !== undefined) edit(last);
      return event.preventDefault();
    }
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit(event.altKey);
  };
  const add = (files: Iterable<File>): void =>
    onDraft({ ...draft, files: [...draft.files, ...files] });
  const onPaste = (event: ClipboardEvent): void => {
    const { files } = event.clipboardData;
    if (files.length === 0) return;
    event.preventDefault();
    add(files);
  };
  return (
    <footer>
      <div className="dock">
        <InputQueue queue={queue} onTakeBack={takeBack} onEdit={edit} />
        <form
          className="composer"
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          {draft.files.length > 0 && (
            <ul className="chips" aria-label="Attached files">
              {draft.files.map((file, at) => (
                <li key={`${at}-${file.name}`}>
                  <bdi>{visibleText(file.name)}</bdi> <small>{showSize(file.size)}</small>
                  <button
                    type="button"
                    aria-label={`Remove ${visibleText(file.name)}`}
                    onClick={() =>
                      onDraft({ ...draft, files: draft.files.filter((_, other) => other !== at) })
                    }
                  >
                    ×
                  </button>
                </li>
              ))}
            </ul>
          )}
          <textarea
            id="composer"
            ref={field}
            aria-label="Message"
            rows={1}
            autoFocus
            value={draft.text}
            placeholder={isBusy ? "Steer, or queue what is next…" : "Write a message…"}
            onChange={({ target }) => onDraft({ ...draft, text: target.value })}
            onKeyDown={onKey}
            onPaste={onPaste}
          />
          <div className="row">
            <button
              type="button"
              className="icon"
              aria-label="Attach files"
              onClick={() => picker.current?.click()}
            >
              +
            </button>
            <input
              ref={picker}
              type="file"
              multiple
              hidden
              onChange={({ target }) => {
                add(target.files ?? []);
                target.value = "";
              }}
            />
            <span className="hint">
              {isBusy ? (
                <>
                  <kbd>Enter</kbd> steer <kbd>Alt Enter</kbd> queue <kbd>Esc</kbd> stop
                </>
              ) : (
                <>
                  <kbd>Enter</kbd> send
                </>
              )}
            </span>
            {isBusy && !isEmpty && (
              <>
                <button type="button" className="btn" onClick={() => submit(true)}>
                  Queue
                </button>
                <button className="btn">Steer</button>
              </>
            )}
            {isBusy ? (
              <button
                type="button"
                className="btn stop"
                disabled={stopping}
                onClick={() => abort()}
              >
                {stopping ? "Stopping" : "Stop"}
              </button>
            ) : (
              <button className="btn go send" disabled={isEmpty}>
                Send
              </button>
            )}
          </div>
        </form>
      </div>
    </footer>
  );
}

/** Escape does something, unless a dialog or a menu is open, or something else has taken it. */
function useEscape(isOn: boolean, act: () => void): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    if (!isOn) return undefined;
    const onKey = (event: globalThis.KeyboardEvent): void => {
      if (event.key !== "Escape" || event.defaultPrevented) return;
      if (document.querySelector("dialog[open], :popover-open, nav.open, .editor, .name") !== null)
        return;
      latest.current();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [isOn]);
}
