/** What keeps the process alive and was opened by a test: sockets, servers and timers. */
export function openResources(): readonly string[] {
  return process.getActiveResourcesInfo().filter((kind) => /TCP|Timeout|Shutdown|Write/.test(kind));
}

/** What is there now and was not there before. The runner's own timers come and go. */
export function addedResources(before: readonly string[]): readonly string[] {
  const left = [...before];
  return openResources().filter((kind) => {
    const at = left.indexOf(kind);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

/** What stays added for a tenth of a second. Closed handles take a turn of the event loop. */
export async function leakedResources(before: readonly string[]): Promise<readonly string[]> {
  for (let tries = 0; tries < 50 && addedResources(before).length > 0; tries += 1) {
    await new Promise((resolve) => {
      setTimeout(resolve, 2);
    });
  }
  return addedResources(before);
}
