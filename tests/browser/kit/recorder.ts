/** What a tab has shown since it was opened, over all its documents. */
export interface Recorded {
  /** The text of each reply, as it stands. */
  readonly texts: readonly string[];
  /** Where a text did not grow by appending, and did not begin again either. */
  readonly faults: readonly string[];
  /** How often a reply was shown with less of its text than before. */
  readonly restarts: number;
  /** How many texts were shown. */
  readonly changes: number;
  /** When Stop was clicked here, and when this tab last came to rest, by the clock of the machine. */
  readonly stopClickedAt: number;
  readonly idleAt: number;
  /** How often the tab came back from the back/forward cache. */
  readonly revivals: number;
}

/**
 * Runs in each document of a tab before the page's own program, and takes down every text that the chat
 * renders. It is kept over refreshes, so that what a new document shows is compared with the old one.
 */
export const recorder = `(() => {
  const storage = (() => { try { return sessionStorage; } catch { return undefined; } })();
  if (storage === undefined) return; // an empty page, or one of the browser's own
  const kept = JSON.parse(storage.getItem("recorded") ?? "null");
  const empty = () => ({ texts: [], faults: [], restarts: 0, changes: 0, stopClickedAt: 0, idleAt: 0, revivals: 0 });
  const recorded = kept ?? empty();
  globalThis.recorded = recorded;
  globalThis.recordAnew = () => void Object.assign(recorded, empty());
  addEventListener("pagehide", () => storage.setItem("recorded", JSON.stringify(recorded)));
  addEventListener("pageshow", ({ persisted }) => { if (persisted) recorded.revivals += 1; });
  addEventListener("click", ({ target }) => {
    if (target instanceof Element && target.closest(".stop")) recorded.stopClickedAt = Date.now();
  }, true);
  let isBusy = false;
  const record = () => {
    const wasBusy = isBusy;
    isBusy = document.querySelector(".stop") !== null;
    if (wasBusy && !isBusy) recorded.idleAt = Date.now();
    if (document.querySelector("article") === null) return; // nothing came yet
    const replies = [...document.querySelectorAll("article.model")];
    const now = replies.map((reply) => [...reply.querySelectorAll("p")].map((text) => text.textContent).join(""));
    const { texts, faults } = recorded;
    for (let at = 0; at < Math.max(texts.length, now.length); at += 1) {
      const [before = "", after = ""] = [texts[at], now[at]];
      if (before === after) continue;
      recorded.changes += 1;
      if (after.startsWith(before)) continue;
      if (before.startsWith(after) && at === texts.length - 1) recorded.restarts += 1;
      else if (faults.length < 5) faults.push("reply " + at + ": " + before.slice(-60) + " became " + after.slice(-60));
    }
    recorded.texts = now;
  };
  new MutationObserver(record).observe(document, { subtree: true, childList: true, characterData: true });
})()`;
