const LONGEST = 100;

/** Returns the name of a source that neither a person nor a page names: `webapi.legistar.com/v1/example/events`. */
export function addressName(address: string): string {
  const { host, pathname } = new URL(address);
  return `${host}${pathname.replace(/\/+$/, '')}`.slice(0, LONGEST);
}
