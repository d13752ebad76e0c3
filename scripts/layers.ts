/** Who may import whom, as data. `check-layers.ts` compares the tree with these tables. */

/** What one package may use at run time. */
export interface PackageRule {
  /** Our packages it may import, by folder name. */
  readonly packages: readonly string[];
  /** Third-party packages it may list under `dependencies`. */
  readonly dependencies: readonly string[];
  /** Third-party packages it may list under `peerDependencies`; `scope/*` admits a whole scope. */
  readonly peers: readonly string[];
  /** Whether a user must be able to install the package without its peers. */
  readonly peersAreOptional: boolean;
  /** Whether its sources may import `node:*`. Packages for browsers and sandboxes may not. */
  readonly node: boolean;
}

const nothing: PackageRule = {
  packages: [],
  dependencies: [],
  peers: [],
  peersAreOptional: true,
  node: true,
};

/** One row per package. A folder under packages/ that has no row here is a violation. */
export const packageRules: Readonly<Record<string, PackageRule>> = {
  core: { ...nothing, node: false },
  providers: {
    ...nothing,
    packages: ["core"],
    dependencies: ["undici", "eventsource-parser"],
  },
  stores: { ...nothing, packages: ["core"], peers: ["@redis/client", "pg"] },
  client: { ...nothing, packages: ["core"], peers: ["react"], node: false },
  agent: {
    ...nothing,
    packages: ["core"],
    peers: ["@modelcontextprotocol/client", "@opentelemetry/api", "ajv"],
  },
  server: { ...nothing, packages: ["core", "agent"] },
  temporal: {
    ...nothing,
    packages: ["core", "agent"],
    peers: ["@temporalio/*"],
    peersAreOptional: false,
  },
  conformance: { ...nothing, packages: ["core", "agent"] },
};

/**
 * Our packages that tests, and only tests, may import besides those above. The conformance cases
 * are there to be run by the tests of every implementation.
 */
export const packagesForTests: readonly string[] = ["conformance"];

/**
 * The folders of core/src and the folders each may import. Every folder may also import itself and
 * the files beside index.ts (ids, errors, json and the like), which in turn import only each other.
 */
export const coreFolders: Readonly<Record<string, readonly string[]>> = {
  iterate: [],
  content: ["iterate"],
  delta: ["iterate", "content"],
  event: ["iterate", "content", "delta"],
  wire: ["iterate", "content", "delta", "event"],
  ports: ["iterate", "content", "delta", "event"],
  lane: ["iterate", "content", "delta", "event", "ports"],
  inbox: ["iterate", "content", "delta", "event", "ports"],
  reference: ["iterate", "content", "delta", "event", "ports", "wire"],
};

/** No source file is longer than this many lines, tests aside … */
export const lineLimit = 400;

/** … but for these, each with the reason why splitting it would make it worse. */
export const longFiles: Readonly<Record<string, string>> = {};
