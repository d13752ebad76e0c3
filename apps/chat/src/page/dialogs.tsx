import { visibleText } from "@millrace/client/parts";
import { useEffect, useRef, useSyncExternalStore } from "react";
import type { ReactNode } from "react";

interface DialogProps {
  readonly isOpen: boolean;
  readonly label: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A modal dialog of the platform: focus stays in it, and Escape closes it. */
export function Dialog({ isOpen, label, onClose, children }: DialogProps): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  return (
    <dialog ref={dialog} aria-label={label} onClose={onClose}>
      {isOpen && children}
    </dialog>
  );
}

const keys: readonly (readonly [string, string])[] = [
  ["Enter", "send; while a run is on, steer it"],
  ["Alt Enter", "queue for after the answer"],
  ["Shift Enter", "a new line"],
  ["Alt ↑", "take the last queued message back"],
  ["Esc", "stop the run; what came is kept"],
  ["Ctrl K", "search sessions"],
  ["Ctrl Shift O", "new session"],
  ["?", "this list"],
];

/** The keys of the page. */
export function KeysDialog({
  isOpen,
  onClose,
}: Pick<DialogProps, "isOpen" | "onClose">): ReactNode {
  return (
    <Dialog isOpen={isOpen} label="Keys" onClose={onClose}>
      <h2>Keys</h2>
      <dl className="keys">
        {keys.map(([key, does]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <button className="btn" onClick={onClose}>
        Close
      </button>
    </Dialog>
  );
}

let asked = "";
const listeners = new Set<() => void>();

/** Asks the person whether to open an address, which is shown whole. */
export function askToOpen(url: string): void {
  asked = url;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** A link of a model may say one thing and lead to another: its whole address is shown before it is opened. */
export function LinkDialog(): ReactNode {
  const url = useSyncExternalStore(subscribe, () => asked);
  const close = (): void => askToOpen("");
  return (
    <Dialog isOpen={url !== ""} label="Open a link" onClose={close}>
      <h2>Open this address?</h2>
      <p className="address">
        <bdi>{visibleText(url)}</bdi>
      </p>
      <div className="row">
        <a
          className="btn go"
          href={url}
          target="_blank"
          rel="noopener noreferrer nofollow"
          onClick={close}
        >
          Open
        </a>
        <button className="btn" onClick={close}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}
