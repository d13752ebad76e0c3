const schemes: readonly string[] = ["http:", "https:", "mailto:"];

/** The address that a link may lead to, or nothing: only the web and mail, however the scheme is written. */
export function safeUrl(href: unknown): string | undefined {
  if (typeof href !== "string") return undefined;
  // Without a base: an address of this page is none that a model should name.
  if (!URL.canParse(href)) return undefined;
  const { protocol, href: normal } = new URL(href);
  return schemes.includes(protocol) ? normal : undefined;
}

/** The host that an address leads to, as people know it. Of mail it is the address, as it is written if it does not decode. */
export function hostOf(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  if (protocol !== "mailto:") return host;
  try {
    return decodeURIComponent(pathname);
  } catch {
    return pathname;
  }
}
