import type { Agent } from "@millrace/agent";
import { bundleForPage, htmlOf } from "../../browser/kit/bundle.ts";
import { openCutLine } from "../kit/cut-line.ts";
import type { CutLine } from "../kit/cut-line.ts";

/** A site of some pages, behind a line that can be cut. */
export type Site = CutLine;

/** Serves the program of each path as a page, and an agent below `/agent`. */
export async function openSite(
  agent: Agent,
  entries: Readonly<Record<string, URL>>,
): Promise<Site> {
  const pages = new Map<string, string>();
  const bundle = async ([path, entry]: [string, URL]): Promise<void> => {
    pages.set(path, htmlOf(await bundleForPage(entry)));
  };
  await Promise.all(Object.entries(entries).map(bundle));
  return openCutLine(agent, (path) => pages.get(path));
}
