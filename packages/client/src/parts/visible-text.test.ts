import { expect, it } from "vitest";
import { visibleText } from "./visible-text.ts";

it("what turns text around, has no width or is a tag is shown by its number", () => {
  expect(visibleText("invoice\u202efdp.exe")).toBe("invoice⟨U+202E⟩fdp.exe");
  expect(visibleText("pay\u200bpal \u{e0041}\u{e0042}")).toBe("pay⟨U+200B⟩pal ⟨U+E0041⟩⟨U+E0042⟩");
  expect(visibleText("\u001b[2J\u0007")).toBe("⟨U+001B⟩[2J⟨U+0007⟩");
  expect(visibleText("a\ufe01\ufe02\ufe03")).toBe("a\ufe01⟨U+FE02⟩⟨U+FE03⟩");
});

it("line feeds, tabs, emoji and scripts with joiners stay as they are", () => {
  const text = "one\ttwo\nthree 👩‍👩‍👧 ❤️ नमस्‍ते שלום";
  expect(visibleText(text)).toBe(text);
});
