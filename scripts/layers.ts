/** The allowed imports, as data. `check-layers.ts` compares the tree with these tables. */

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
  bridges: { ...nothing, packages: ["core", "providers"] },
  stores: { ...nothing, packages: ["core"], peers: ["@redis/client", "pg"] },
  client: { ...nothing, packages: ["core"], peers: ["react"], node: false },
  agent: {
    ...nothing,
    packages: ["core"],
    peers: ["@modelcontextprotocol/client", "@opentelemetry/api", "ajv"],
  },
  server: { ...nothing, packages: ["core", "agent"], dependencies: ["jose"] },
  dialects: { ...nothing, packages: ["core", "server"] },
  temporal: {
    ...nothing,
    packages: ["core", "agent"],
    peers: ["@temporalio/*"],
    peersAreOptional: false,
  },
  conformance: { ...nothing, packages: ["core", "agent"] },
};

/**
 * Packages that tests, and only tests, may import besides those above. The conformance cases are
 * meant for the tests of every implementation.
 */
export const packagesForTests: readonly string[] = ["conformance"];

/** The allowed imports inside one package. A folder may always import itself. */
export interface FolderRules {
  /**
   * Files beside index.ts that every folder may import, by name without `.ts`; they import only each
   * other. All other files beside index.ts compose the folders: they may import everything, and no
   * folder imports them.
   */
  readonly bottom: "all" | readonly string[];
  /** Each folder of src with the folders that it may import. The table must have no circle. */
  readonly folders: Readonly<Record<string, readonly string[]>>;
}

/** One row per package that has folders in src. A folder that is not in its row is a violation. */
export const folderRules: Readonly<Record<string, FolderRules>> = {
  core: {
    bottom: ["errors", "escaped-keys", "ids", "json", "list", "parse-json", "scan-json", "text"],
    folders: {
      secrets: [],
      iterate: [],
      content: ["iterate"],
      delta: ["iterate", "content"],
      event: ["iterate", "content", "delta"],
      wire: ["iterate", "content", "delta", "event"],
      ports: ["secrets", "iterate", "content", "delta", "event"],
      "store-kit": ["iterate", "content", "delta", "event", "ports"],
      lane: ["iterate", "content", "delta", "event", "ports"],
      reading: ["iterate", "content", "delta", "event", "wire", "ports", "store-kit"],
      inbox: ["secrets", "iterate", "content", "delta", "event", "ports", "store-kit"],
      reference: ["iterate", "content", "delta", "event", "ports", "store-kit", "wire"],
    },
  },
  providers: {
    bottom: ["endpoint", "failure", "price", "protocol", "reply", "settings", "vendor-delay"],
    folders: {
      framing: [],
      models: [],
      protocols: ["framing"],
      transport: ["framing"],
      serve: ["transport"],
    },
  },
  agent: {
    bottom: ["text-bytes"],
    folders: {
      schema: [],
      process: [],
      definition: ["schema"],
      context: [],
      loop: ["definition"],
      tool: ["schema", "definition", "context", "loop"],
      work: ["schema", "definition", "context", "loop", "tool"],
      drive: ["schema", "definition", "context", "loop", "tool", "work"],
      observe: ["definition"],
      session: ["schema", "definition", "context", "loop", "tool", "work", "drive", "observe"],
      opentelemetry: ["definition", "observe"],
      mcp: ["schema", "process", "definition", "tool"],
      "vendor-tools": ["definition"],
      define: [
        "schema",
        "process",
        "definition",
        "context",
        "loop",
        "tool",
        "work",
        "drive",
        "observe",
        "session",
        "opentelemetry",
        "mcp",
      ],
      worker: ["definition", "loop", "work", "drive", "session", "define"],
      engine: ["definition", "loop", "work", "drive", "session", "define"],
    },
  },
  client: {
    bottom: [],
    folders: {
      connection: [],
      http: ["connection"],
      outbox: ["http"],
      stream: ["connection", "http"],
      session: ["connection", "http", "outbox", "stream"],
      react: ["connection", "stream", "session"],
      parts: ["stream"],
    },
  },
  bridges: { bottom: "all", folders: {} },
  stores: { bottom: "all", folders: { file: [], postgres: [], redis: [] } },
  server: {
    bottom: [],
    folders: {
      encoding: [],
      hub: ["encoding"],
      sse: ["encoding", "hub"],
      runs: [],
      http: ["encoding", "hub", "sse", "runs"],
      auth: ["http"],
      limits: ["http"],
      openapi: ["http"],
      routes: ["encoding", "sse", "hub", "runs", "http", "auth", "limits", "openapi"],
      serve: ["encoding", "sse", "hub", "runs", "http", "auth", "limits", "openapi", "routes"],
    },
  },
  dialects: {
    bottom: [],
    folders: { shared: [], "ai-sdk": ["shared"], "ag-ui": ["shared"], openai: ["shared"] },
  },
  temporal: {
    bottom: ["names", "steps", "connect-options", "session-header"],
    folders: { workflow: [], worker: [], client: [], plugin: ["worker"], "plugin-workflow": [] },
  },
  conformance: { bottom: ["case"], folders: { vectors: [], http: [], vendors: [] } },
};

/** The line limit of a source file, tests aside … */
export const lineLimit = 350;

/** … except for these, each with the reason why splitting it would make it worse. */
export const longFiles: Readonly<Record<string, string>> = {};
