/** The languages of pages. The first is the default, and has every text. */
export const LANGUAGES = ['en', 'es'] as const;
export type Language = (typeof LANGUAGES)[number];
export const DEFAULT_LANGUAGE: Language = 'en';

/** As each language calls itself. */
export const LANGUAGE_NAMES: Record<Language, string> = { en: 'English', es: 'Español' };
/** Dates and numbers are written as in the United States: `es` alone would write 1.204. */
export const LOCALES: Record<Language, string> = { en: 'en-US', es: 'es-US' };

const MOST_CHARACTERS = 1000;
const RANGE = /^\s*([a-z]{1,8}|\*)(?:-[a-z0-9-]+)?\s*(?:;\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*)?$/i;

/** Returns the language that an `Accept-Language` header prefers: the first one on a tie, the default when it names none of ours. */
export function preferredLanguage(header: string | undefined): Language {
  if (header === undefined || header.length > MOST_CHARACTERS) return DEFAULT_LANGUAGE;
  const qualities = new Map<string, number>();
  for (const range of header.toLowerCase().split(',')) {
    const [, name, quality = '1'] = RANGE.exec(range) ?? [];
    if (name !== undefined) qualities.set(name, Math.max(qualities.get(name) ?? 0, Number(quality)));
  }
  const rest = qualities.get('*') ?? 0;
  const named = [...qualities.keys()].filter(isLanguage);
  const unnamed = LANGUAGES.filter((language) => !qualities.has(language));
  let best = { language: DEFAULT_LANGUAGE, quality: 0 };
  for (const language of [...named, ...unnamed]) {
    const quality = qualities.get(language) ?? rest;
    if (quality > best.quality) best = { language, quality };
  }
  return best.language;
}

/** Returns the language that a path begins with: `/es` and `/es/places` begin with Spanish. */
export function languagePrefix(path: string): Language | null {
  if (path.length !== 3 && path[3] !== '/') return null;
  const name = path.slice(1, 3);
  return isLanguage(name) ? name : null;
}

function isLanguage(name: string): name is Language {
  return (LANGUAGES as readonly string[]).includes(name);
}
