import { readFileSync, readdirSync } from "node:fs";
import type { Json } from "@millrace/core";
import { expand } from "./expand.ts";
import type { Givens } from "./expand.ts";
import type { Vector } from "./vector.ts";

/** The vectors of one suite. */
interface VectorFile {
  readonly suite: string;
  readonly givens?: Givens;
  readonly vectors: readonly {
    readonly name: string;
    readonly input: Json;
    readonly expect: Json;
  }[];
}

/** Relative to `src` and `dist` alike, so that the sources and the build find the same files. */
const folder: URL = new URL("../../vectors/", import.meta.url);

/** All vectors, in the order of their files, with their forms expanded. */
export function loadVectors(): readonly Vector[] {
  return readdirSync(folder)
    .filter((path) => path.endsWith(".json"))
    .toSorted()
    .flatMap((path) => {
      const file = JSON.parse(readFileSync(new URL(path, folder), "utf8")) as VectorFile;
      return file.vectors.map(({ name, input, expect }) => ({
        suite: file.suite,
        name,
        input: expand(input, file.givens),
        expect: expand(expect, file.givens),
      }));
    });
}
