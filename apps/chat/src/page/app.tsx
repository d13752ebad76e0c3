import { useSessions } from "@millrace/client/react";
import { useDeferredValue, useEffect, useState } from "react";
import type { ReactNode } from "react";
import { openSession, useAddress } from "./address.ts";
import { Chat } from "./chat.tsx";
import { client } from "./client.ts";
import { KeysDialog, LinkDialog } from "./dialogs.tsx";
import { Notices } from "./notices.tsx";
import { Sessions } from "./sessions.tsx";

/** More of them are seen when the list is read again. */
const mostWatched = 20;

/** Whether a key was pressed where it writes text. */
function isWriting({ target }: KeyboardEvent): boolean {
  return target instanceof HTMLElement && target.matches("input, textarea, select");
}

export function App(): ReactNode {
  const id = useAddress();
  const [isOpen, setOpen] = useState(false);
  const [hasKeys, setKeys] = useState(false);
  const [search, setSearch] = useState("");
  const list = useSessions(client, { q: useDeferredValue(search.trim()) || undefined });
  const current = list.sessions.find((session) => session.id === id);
  useRunning(list);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isCommand = event.ctrlKey || event.metaKey;
      if (isCommand && event.key.toLowerCase() === "k") {
        setOpen(true);
        document.querySelector<HTMLElement>("#search")?.focus();
      } else if (isCommand && event.shiftKey && event.key.toLowerCase() === "o") openSession();
      else if (event.key === "?" && !isWriting(event)) setKeys(true);
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  return (
    <>
      <a className="skip" href="#composer" onClick={focusComposer}>
        Skip to the message
      </a>
      <Sessions
        list={list}
        current={id}
        isOpen={isOpen}
        search={search}
        onSearch={setSearch}
        onClose={() => setOpen(false)}
      />
      <Chat
        key={id}
        id={id}
        details={current}
        onChanged={list.refresh}
        onMenu={() => setOpen(true)}
        onKeys={() => setKeys(true)}
      />
      <KeysDialog isOpen={hasKeys} onClose={() => setKeys(false)} />
      <LinkDialog />
      <Notices />
    </>
  );
}

/** Watches the sessions that are at work, also those that are not shown: the list shows at once that one is done. */
function useRunning({ sessions, refresh }: ReturnType<typeof useSessions>): void {
  const running = sessions.filter(({ status }) => status !== "idle").map(({ id }) => id);
  const ids = running.slice(0, mostWatched).join(" ");
  useEffect(() => {
    const leave = ids.split(" ").map((id) => {
      if (id === "") return () => undefined;
      let status: string | undefined;
      return client.session(id).subscribe((view) => {
        if (status !== undefined && view.status !== status) void refresh();
        ({ status } = view);
      });
    });
    return () => leave.forEach((each) => each());
  }, [ids, refresh]);
}

/** The address names the session, so the link itself goes nowhere. */
function focusComposer(event: { readonly preventDefault: () => void }): void {
  event.preventDefault();
  document.querySelector<HTMLElement>("#composer")?.focus();
}
