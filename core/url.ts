/** Parses a URL, or returns null. Used instead of `URL.canParse`, which returns false on Node 20 for text outside ASCII once it is optimized. */
export function parseUrl(text: string, base?: URL): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}

const LOOPBACK_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Returns whether the `hostname` of a URL is this machine. */
export function isLoopbackHost(hostname: string): boolean {
  return LOOPBACK_HOSTS.has(hostname);
}

/** Returns the path of a public address without a slash at the end: empty, or such as `/civic`. */
export function basePathOf(publicUrl: string): string {
  return new URL(publicUrl).pathname.replace(/\/$/, '');
}
