import { expect, it } from "vitest";
import { followPage } from "./client.ts";

it("passes on what a page goes through, and nothing after it was left", () => {
  const window = new EventTarget();
  const document = Object.assign(new EventTarget(), { visibilityState: "hidden" });
  const passed: string[] = [];
  const leave = followPage({ window, document, onLine: () => false }, (type) => passed.push(type));
  for (const type of ["online", "offline", "pagehide", "pageshow"])
    window.dispatchEvent(new Event(type));
  for (const type of ["freeze", "resume", "visibilitychange"])
    document.dispatchEvent(new Event(type));
  document.visibilityState = "visible";
  document.dispatchEvent(new Event("visibilitychange"));
  leave();
  window.dispatchEvent(new Event("offline"));

  expect(passed).toEqual([
    "offline", // it is so at the beginning
    "online",
    "offline",
    "freeze",
    "thaw",
    "freeze",
    "thaw",
    "shown",
  ]);
});
