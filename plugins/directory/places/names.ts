import { foldText } from 'civic';

/** `Coeur d'Alene` → `coeur-dalene`: no accents, lower case, no `'` and `.`, other runs become one hyphen. */
export function slugOf(text: string): string {
  // Most names need no folding, which is what takes time.
  if (/^[a-z0-9 ]+$/i.test(text)) return text.toLowerCase().trim().replace(/ +/g, '-');
  return foldText(text).replace(/['’ʻ‘`.]/g, '').replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '');
}

const SPELLINGS: Record<string, string> = { saint: 'st', sainte: 'st', ste: 'st', fort: 'ft', mount: 'mt' };
const SPELLED = /\b(?:saint|sainte|ste|fort|mount)\b/g;

/** What every spelling of a name has in common: Saint or St, Fort or Ft, Mount or Mt, hyphen, space or none. */
export function squash(name: string): string {
  return slugOf(name).replace(SPELLED, (word) => SPELLINGS[word]!).replaceAll('-', '');
}

const LEGAL_BEFORE = /^(?:the )?(?:city|town|village|township|borough|municipality)(?: and county)? of (?=\S)/i;
const LEGAL_BEHIND = /(?<=\S) (?:city|town|township|twp|village|borough|boro|cdp|municipality|municipio|charter township|(?<! county )metro(?:politan)? government)\.?$/i;

/** A name without `City of` before it, without ` city` behind it, or with `County of` behind it; only those that differ. */
export function withoutLegalType(name: string): string[] {
  const plain = name.replaceAll('-', ' ').trim();
  const stripped = [plain.replace(LEGAL_BEFORE, ''), plain.replace(LEGAL_BEHIND, ''), plain.replace(/^(?:the )?(county|parish) of (.+)$/i, '$2 $1')];
  return [...new Set(stripped)].filter((one) => one !== plain);
}

/** The kinds of place that a legal type in a text may mean. */
const TYPES: Record<string, string[]> = {
  city: ['city', 'municipality'], town: ['town'], village: ['village'], borough: ['borough'], boro: ['borough'], township: ['township'], twp: ['township'], charter_township: ['township'], charter_twp: ['township'],
  plantation: ['plantation'], municipality: ['municipality', 'municipio', 'city'], municipio: ['municipio'], city_and_borough: ['municipality'], corporation: ['town'],
};
const TYPE_WORDS = 'city and borough|charter township|charter twp|township|twp|town|city|village|borough|boro|plantation|municipality|municipio|corporation';
const TYPE_BEHIND = new RegExp(`^(.+?) (${TYPE_WORDS})\\.?$`, 'i');
const TYPE_BEFORE = new RegExp(`^(?:the )?(${TYPE_WORDS})(?: and county)? of (.+)$`, 'i');

export interface LegalName {
  plain: string;
  kinds: string[];
  /** Whether the type is surely no part of the name: "Union city" and not "Union City". */
  isType: boolean;
}

/** A name with a legal type before or behind it, "Malta town", "Township of Roxbury", taken apart; null when it has none. */
export function legalName(name: string): LegalName | null {
  const text = name.trim();
  const before = TYPE_BEFORE.exec(text);
  const [, plain, type] = before ? [text, before[2], before[1]] : TYPE_BEHIND.exec(text) ?? [];
  if (!plain || !type) return null;
  return { plain, kinds: TYPES[type.toLowerCase().replaceAll(' ', '_')]!, isType: before !== null || (type === type.toLowerCase() && plain !== plain.toLowerCase()) };
}

/** The ending of an OCD division id: lower case with accents, no `.`, `_` for spaces, `~` for what is neither letter nor hyphen. */
export function ocdName(name: string): string {
  if (/^[a-z0-9 ]+$/i.test(name)) return name.toLowerCase().replace(/ +/g, '_');
  return name.normalize('NFC').toLowerCase().replaceAll('.', '').replace(/\s+/g, '_').replace(/[^\p{L}\p{N}_-]/gu, '~');
}
