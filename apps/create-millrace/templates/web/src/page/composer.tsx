import { useState } from "react";
import type { KeyboardEvent } from "react";
import type { PageClient } from "./main.tsx";

type Session = ReturnType<PageClient["session"]>;

/** Where a person writes. While a run is on, Enter steers it and Escape stops it. */
export function Composer({ session }: { readonly session: Session }) {
  const [text, setText] = useState("");
  const isBusy = session.status !== "idle";
  const submit = () => {
    if (text.trim() === "") return;
    if (isBusy) session.steer(text);
    else session.send(text);
    setText("");
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Escape" && isBusy) session.abort();
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  };
  return (
    <form action={submit}>
      <textarea
        aria-label="Message"
        rows={1}
        autoFocus
        value={text}
        placeholder={isBusy ? "Steer the run…" : "Write a message…"}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={onKey}
      />
      {isBusy ? (
        <button type="button" disabled={session.stopping} onClick={() => session.abort()}>
          Stop
        </button>
      ) : (
        <button className="go" disabled={text.trim() === ""}>
          Send
        </button>
      )}
    </form>
  );
}
