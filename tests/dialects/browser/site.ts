import type { Agent } from "@millrace/agent";
import { bundleForPage, htmlOf } from "../../browser/kit/bundle.ts";
import { versions } from "../kit/chat.ts";
import type { Version } from "../kit/chat.ts";
import { openCutLine } from "../kit/cut-line.ts";
import type { CutLine } from "../kit/cut-line.ts";

/** A site with a page for each version, behind a line that can be cut. */
export type Site = CutLine;

/** Serves the pages, and an agent below `/agent`. */
export async function openSite(agent: Agent): Promise<Site> {
  const pages = new Map<string, string>();
  const bundle = async (version: Version): Promise<void> => {
    const entry = new URL(`entry-${version}.ts`, import.meta.url);
    pages.set(`/v${version}`, htmlOf(await bundleForPage(entry)));
  };
  await Promise.all(versions.map(bundle));
  return openCutLine(agent, (path) => pages.get(path));
}
