/**
 * The resources that keep the process alive and were opened by a test: sockets, servers and timers.
 */
export function openResources(): readonly string[] {
  return process.getActiveResourcesInfo().filter((kind) => /TCP|Timeout|Shutdown|Write/.test(kind));
}

/** The resources that were added. Timers of the runner come and go. */
export function addedResources(before: readonly string[]): readonly string[] {
  const left = [...before];
  return openResources().filter((kind) => {
    const at = left.indexOf(kind);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

/**
 * The resources that stay for a tenth of a second. Closed handles take a turn of the event loop.
 */
export async function leakedResources(before: readonly string[]): Promise<readonly string[]> {
  for (let tries = 0; tries < 50 && addedResources(before).length > 0; tries += 1) {
    await new Promise((resolve) => {
      setTimeout(resolve, 2);
    });
  }
  return addedResources(before);
}
