import type { Page } from "playwright-core";

/** What was seen of Markdown while it was written. */
export interface Flashes {
  /** Raw marks that were shown outside code. */
  readonly raw: readonly string[];
  /** Blocks that were complete, and were made anew or changed. */
  readonly replaced: readonly string[];
  /** How many different texts were shown. */
  readonly texts: number;
}

/**
 * Looks at the Markdown of a page in every frame. A block is complete when another one follows it; from then
 * on it is the same element with the same text.
 */
export const watchMarkdown = `(() => {
  const flashes = (globalThis.flashes = { raw: [], replaced: [], texts: 0 });
  const blocks = new Map();
  let before = "";
  const marks = /\\*\\*|\`\`|^#{1,6} |\\| ?:?-{2,}|\\]\\(|^\\|/m;
  const textOutsideCode = (element) => {
    const copy = element.cloneNode(true);
    for (const code of copy.querySelectorAll("figure.code, code")) code.remove();
    return copy.innerText ?? copy.textContent;
  };
  const look = () => {
    const md = document.querySelector(".md");
    if (md !== null && md.textContent !== before) {
      before = md.textContent;
      flashes.texts += 1;
      const shown = [...md.querySelectorAll("p, li, h1, h2, h3, td, th, blockquote")];
      for (const element of shown) {
        const found = marks.exec(textOutsideCode(element));
        if (found && flashes.raw.length < 5) flashes.raw.push(element.tagName + ": " + element.textContent.slice(0, 80));
      }
      const all = [...(md.firstElementChild?.children ?? [])];
      all.forEach((block, at) => {
        const known = blocks.get(at);
        if (known && (known.block !== block || known.text !== block.textContent) && flashes.replaced.length < 5)
          flashes.replaced.push(at + ": " + known.text.slice(0, 60) + " became " + block.textContent.slice(0, 60));
        if (at < all.length - 2) blocks.set(at, { block, text: block.textContent });
      });
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})()`;

export function flashes(page: Page): Promise<Flashes> {
  return page.evaluate<Flashes>("globalThis.flashes");
}
