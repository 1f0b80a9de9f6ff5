const TRACKING = /^(utm_\w+|fbclid|gclid|mc_[ce]id|igshid)$/;

/** The one address under which a page is known: no fragment, no tracking, no default port, host in lower case. */
export function normalUrl(text: string): string {
  const url = new URL(text);
  url.hash = '';
  url.username = '';
  url.password = '';
  const tracking = Array.from(url.searchParams.keys()).filter((name) => TRACKING.test(name));
  for (const name of tracking) url.searchParams.delete(name);
  return url.href;
}
