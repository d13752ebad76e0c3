import {
  chmod,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sessionUid } from "@millrace/core/writing";
import { expect, it, onTestFinished } from "vitest";
import { patience } from "../../../../tests/kit/patience.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { killPuts } from "../testing/blob-kills.ts";
import { fileBlobs } from "./file-blobs.ts";
import { fileStore } from "./file-store.ts";

const place = { uid: sessionUid("session_1") };
const mediaType = "image/png";

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

it(
  "a process that is killed in a put leaves nothing that is found",
  async () => {
    const folder = await newFolder();
    const within = join(folder, "blobs", "default", "session_1");
    const leftovers = async (): Promise<number> =>
      (await readdir(within)).filter((name) => name.endsWith(".tmp")).length;
    const blobs = fileBlobs(folder);
    await killPuts({ blobs, place, arguments: ["file", folder], leftovers }, runs(3, 200));
  },
  patience * 5,
);

it("files and folders are their owner's alone, and bytes are where their hash says", async () => {
  const folder = await newFolder();
  const bytes = Buffer.from("abc");

  const answer = await fileBlobs(folder).put(place, bytes, { mediaType });

  const hash = "sha256-ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  expect(answer).toMatchObject({ outcome: "stored", blob: { hash } });
  const within = join(folder, "blobs", "default", "session_1");
  expect((await readdir(within)).toSorted()).toEqual(["place.json", hash]);
  for (const name of await readdir(within)) {
    expect((await stat(join(within, name))).mode & 0o777).toBe(0o600);
  }
  expect((await stat(within)).mode & 0o777).toBe(0o700);
});

it("a link that another program put in the place of a blob is not followed", async () => {
  const folder = await newFolder();
  const blobs = fileBlobs(folder);
  await blobs.put(place, Buffer.from("abc"), { mediaType });
  const hash = `sha256-${"0".repeat(64)}`;
  const secret = join(folder, "secret");
  await writeFile(secret, "x".repeat(4_000));
  await symlink(secret, join(folder, "blobs", "default", "session_1", hash));

  await expect(blobs.read(place, hash)).rejects.toMatchObject({ code: "corrupt_session" });
});

it("a folder that any user may write to is refused", async () => {
  const folder = await newFolder();
  await mkdir(join(folder, "blobs"));
  await chmod(join(folder, "blobs"), 0o777);
  const blobs = fileBlobs(folder);

  const refused = { code: "invalid_definition" };
  await expect(blobs.put(place, Buffer.from("abc"), { mediaType })).rejects.toMatchObject(refused);
  await expect(blobs.find(place, `sha256-${"0".repeat(64)}`)).rejects.toMatchObject(refused);
});

it("an error of what the bytes are read from is that error, also where a file is missing", async () => {
  const folder = await newFolder();
  const missing = join(folder, "missing");
  async function* bytes(): AsyncGenerator<Uint8Array, void, undefined> {
    yield await readFile(missing);
  }

  const put = fileBlobs(folder).put(place, bytes(), { mediaType });

  await expect(put).rejects.toMatchObject({ code: "ENOENT", path: missing });
});

it("sessions and blobs share a folder, and neither is taken for the other", async () => {
  const folder = await newFolder();
  await using store = fileStore(folder);
  const { uid } = await store.create({ sessionId: "blobs" });
  const blobs = fileBlobs(folder);
  await blobs.put({ uid }, Buffer.from("abc"), { mediaType });

  expect((await store.list()).map(({ sessionId }) => sessionId)).toEqual(["blobs"]);
  expect(await blobs.total({ uid })).toBe(3);
});
