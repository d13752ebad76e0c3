import { visibleText } from "@millrace/client/parts";
import { useEffect, useRef, useState } from "react";
import type { ReactNode } from "react";
import type { Session } from "./client.ts";
import { textOf } from "./items.tsx";

/** What happens within this time is announced together. */
const batchMs = 700;
const longest = 600;

/** Says what a screen reader should: not each word, but that a run began, asks, failed or is done, with its answer. */
export function Announcer({ session }: { readonly session: Session }): ReactNode {
  const { status, approvals, error, items, connection, loading } = session;
  const [said, setSaid] = useState("");
  const waiting = useRef<string[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const before = useRef({ status, asks: approvals.length, connection, isLoaded: false });
  useEffect(() => {
    const was = before.current;
    before.current = { status, asks: approvals.length, connection, isLoaded: !loading };
    if (!was.isLoaded) return; // what was there already is read, not announced
    const news: string[] = [];
    if (status !== "idle" && was.status === "idle") news.push("Answering.");
    const ask = approvals.at(-1);
    if (ask !== undefined && approvals.length > was.asks) news.push(`Approve ${ask.tool}?`);
    if (status === "idle" && was.status !== "idle") {
      const last = items.findLast(({ author }) => author === "model");
      const text = visibleText(last === undefined ? "" : textOf(last)).slice(0, longest);
      news.push(error ? `Failed: ${error.message}` : `Answer: ${text}`);
    }
    if (connection !== was.connection && connection === "reconnecting") news.push("Reconnecting.");
    if (news.length === 0) return;
    waiting.current.push(...news);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      setSaid(waiting.current.join(" "));
      waiting.current = [];
    }, batchMs);
  }, [status, approvals, error, items, connection, loading]);
  return (
    <div className="aside" role="status" aria-live="polite" id="announcer">
      {said}
    </div>
  );
}
