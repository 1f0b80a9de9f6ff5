/** Parses a URL, or returns null. Used instead of `URL.canParse`, which returns false on Node 20 for text outside ASCII once it is optimized. */
export function parseUrl(text: string, base?: URL): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}
