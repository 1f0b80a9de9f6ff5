import type { Texts } from 'civic';

const BROWSERS: [RegExp, string][] = [[/\bEdg\//, 'Edge'], [/\bOPR\//, 'Opera'], [/\bFirefox\//, 'Firefox'], [/\bHeadlessChrome\//, 'Chromium'], [/\bChrome\//, 'Chrome'], [/\bSafari\//, 'Safari'], [/^curl\//, 'curl']];
const SYSTEMS: [RegExp, string][] = [[/\bAndroid\b/, 'Android'], [/\b(iPhone|iPad)\b/, 'iOS'], [/\bWindows\b/, 'Windows'], [/\bMac OS X\b/, 'macOS'], [/\bLinux\b/, 'Linux']];

/** The names of a browser and its system; null when they are unknown. */
export interface Device {
  browser: string | null;
  system: string | null;
}

/** Returns what the `User-Agent` of a browser names. */
export function deviceOf(agent: string | null): Device {
  const named = (list: [RegExp, string][]): string | null => list.find(([pattern]) => pattern.test(agent ?? ''))?.[1] ?? null;
  return { browser: named(BROWSERS), system: named(SYSTEMS) };
}

/** Returns a device as people recognise it: "Firefox on Linux". */
export function deviceWords({ browser, system }: Device, t: Texts): string {
  if (browser && system) return t('devices.both', { browser, system });
  return browser ?? system ?? t('devices.unknown');
}
