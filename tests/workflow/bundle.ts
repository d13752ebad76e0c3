import { join, relative } from "node:path";
import { bundleWorkflowCode } from "@temporalio/worker";
import type { BundleOptions } from "@temporalio/worker";
import { root } from "../../scripts/workspace.ts";

/** One source file of ours that is in a bundle. */
export interface BundledModule {
  /** Relative to the root. */
  readonly file: string;
  /**
   * Its length in UTF-8, comments included, after its types are erased: what the bundle has of it
   * without the lines that webpack puts around each module, and without source maps.
   */
  readonly bytes: number;
}

export interface Bundle {
  /** A script for a workflow sandbox. */
  readonly code: string;
  readonly modules: readonly BundledModule[];
  /** What our modules import besides each other, by the path that webpack resolved it to. */
  readonly foreign: readonly string[];
}

/**
 * Bundles a file as a Temporal worker does when it starts. The bundler itself rejects what imports
 * Node's modules, but for `assert`, `url` and `util`; those and all others are in `foreign`.
 */
export async function bundleWorkflow(file: string): Promise<Bundle> {
  let modules: readonly StatsModule[] = [];
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(root, file),
    logger: silent,
    webpackConfigHook: (config) => ({
      ...config,
      resolve: { ...config.resolve, conditionNames: ["@millrace/source", "..."] },
      module: { ...config.module, rules: (config.module?.rules ?? []).map(keepSyntax) },
      plugins: [
        ...(config.plugins ?? []),
        (compiler) =>
          compiler.hooks.done.tap("modules", (stats) => {
            const options = { all: false, modules: true, reasons: true, modulesSpace: Infinity };
            modules = stats.toJson(options).modules ?? [];
          }),
      ],
    }),
  });
  const names = new Map(modules.map((module) => [module.name, module.nameForCondition ?? ""]));
  const isOurs = (path: string): boolean => path.endsWith(".ts") && !path.includes("node_modules");
  const importedBy = ({ reasons = [] }: StatsModule): readonly string[] =>
    reasons.map(({ moduleName }) => names.get(moduleName ?? "") ?? "");
  const ours = modules.filter(({ nameForCondition }) => isOurs(nameForCondition ?? ""));
  const others = modules.filter((module) => !ours.includes(module));
  return {
    code,
    modules: ours.map(({ nameForCondition, size }) => ({
      file: relative(root, nameForCondition ?? ""),
      bytes: size ?? 0,
    })),
    foreign: others
      .filter((module) => importedBy(module).some(isOurs))
      .map(({ name, nameForCondition }) => nameForCondition ?? name ?? ""),
  };
}

/** The fields of a module that are read of webpack's statistics. */
interface StatsModule {
  readonly name?: string | undefined;
  readonly nameForCondition?: string | null | undefined;
  readonly size?: number | undefined;
  readonly reasons?: readonly { readonly moduleName?: string | null | undefined }[] | undefined;
}

type Config = Parameters<NonNullable<BundleOptions["webpackConfigHook"]>>[0];
type Rule = NonNullable<NonNullable<Config["module"]>["rules"]>[number];

/**
 * Our packages are published as modern JavaScript, which the bundler takes as it is. So of our
 * sources only the types are erased, instead of bringing them down to its default of 2017.
 */
function keepSyntax(rule: Rule): Rule {
  if (typeof rule !== "object" || !(rule?.test instanceof RegExp)) return rule;
  if (!rule.test.test("source.ts")) return rule;
  // The bundler's one rule for TypeScript has one loader with options.
  const use = rule.use as { readonly loader: string; readonly options: object };
  const jsc = { target: "es2024", parser: { syntax: "typescript" } };
  return { ...rule, use: { ...use, options: { ...use.options, jsc } } };
}

const nothing = (): void => undefined;

const silent: NonNullable<BundleOptions["logger"]> = {
  log: nothing,
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
};
