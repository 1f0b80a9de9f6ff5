const TRACKING = /^(utm_\w+|fbclid|gclid|mc_[ce]id|igshid)$/;

/** The one address under which a page is known: no fragment, no tracking, no default port, host in lower case. */
export function normalUrl(text: string): string {
  const url = new URL(text);
  url.hash = '';
  url.username = '';
  url.password = '';
  for (const name of [...url.searchParams.keys()]) if (TRACKING.test(name)) url.searchParams.delete(name);
  return url.href;
}
