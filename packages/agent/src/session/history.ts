import { readItems } from "@millrace/core/reading";
import type { Item } from "@millrace/core";
import type { ItemPage } from "@millrace/core/reading";
import type { SessionHost } from "./session-host.ts";
import type { EarlierOptions } from "./session.ts";

/** Items that are read at a time for the whole history. */
const itemsAtOnce = 500;

/** One page of the items that the host, or the page before, leaves out. */
export async function pageOf(
  { journal, options: { store, record } }: SessionHost,
  { earlier = journal.state.earlier, limit }: EarlierOptions = {},
): Promise<ItemPage> {
  if (earlier === undefined) return { items: [] };
  return await readItems({ store, uid: record.uid, earlier, limit });
}

/** All items of a session. */
export async function historyOf(host: SessionHost): Promise<readonly Item[]> {
  const { items, earlier } = host.journal.state;
  const pages: (readonly Item[])[] = [items.toArray()];
  for (let left = earlier; left !== undefined;) {
    const page = await pageOf(host, { earlier: left, limit: itemsAtOnce });
    pages.push(page.items);
    left = page.earlier;
  }
  return pages.toReversed().flat();
}
