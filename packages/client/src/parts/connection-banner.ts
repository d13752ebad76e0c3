import { createElement as h, useEffect, useState } from "react";
import type { ReactNode } from "react";
import type { ClientConnection } from "../stream/connector.ts";

/** What a connection banner is given. */
export interface ConnectionBannerProps {
  readonly connection: ClientConnection;
  /** Tries at once: `client.reconnect`. */
  readonly onReconnect: () => void;
  /** Breaks that are shorter than this are not worth a word. 1,000 if left out. */
  readonly afterMs?: number | undefined;
  readonly labels?: Partial<ConnectionLabels> | undefined;
  readonly className?: string | undefined;
}

/** The texts of the banner. Pass others for another language. */
export interface ConnectionLabels {
  readonly reconnecting: string;
  readonly offline: string;
  readonly retry: string;
}

const english: ConnectionLabels = {
  reconnecting: "Reconnecting. Nothing is lost: the run goes on.",
  offline: "Offline. What you send waits here.",
  retry: "Try now",
};

/** Says that the connection is away, once it has been for a second. Empty else, and always there for screen readers. */
export function ConnectionBanner(props: ConnectionBannerProps): ReactNode {
  const { connection, onReconnect, afterMs = 1_000, className } = props;
  const labels = { ...english, ...props.labels };
  const isAway = connection === "reconnecting" || connection === "offline";
  const isShown = useAfter(isAway, afterMs);
  return h(
    "div",
    { className, role: "status", "data-part": "connection", "data-state": connection },
    isShown &&
      isAway && [
        h("span", { key: "text" }, labels[connection]),
        h("button", { key: "retry", type: "button", onClick: onReconnect }, labels.retry),
      ],
  );
}

/** True once something was so for a while. */
function useAfter(isSo: boolean, ms: number): boolean {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    if (!isSo) return undefined;
    const timer = setTimeout(() => setLong(true), ms);
    return () => {
      clearTimeout(timer);
      setLong(false);
    };
  }, [isSo, ms]);
  return isLong;
}
