import axeCore from "axe-core";
import type { Page } from "playwright-core";

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly {
    readonly target: readonly string[];
    readonly failureSummary: string;
  }[];
}

/** What axe finds in a page as it stands, beyond what is minor: the rule, where, and why. */
export async function axe(page: Page): Promise<readonly string[]> {
  // Evaluated by the driver: the page's own policy does not let it in.
  await page.evaluate(`globalThis.axe ? undefined : void (() => { ${axeCore.source} })()`);
  const { violations } = await page.evaluate<{ readonly violations: readonly Violation[] }>(
    `axe.run(document, { resultTypes: ["violations"] })`,
  );
  return violations
    .filter(({ impact }) => impact !== "minor")
    .flatMap(({ id, impact, nodes }) =>
      nodes.map(
        ({ target, failureSummary }) => `${impact} ${id}: ${target.join(" ")} ${failureSummary}`,
      ),
    );
}
