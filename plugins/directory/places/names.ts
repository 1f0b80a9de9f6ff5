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
const LEGAL_BEHIND = /(?<=\S) (?:city|town|township|village|borough|cdp|municipality|charter township|metro(?:politan)? government)$/i;

/** A name without `City of` before it, without ` city` behind it, or with `County of` behind it; only those that differ. */
export function withoutLegalType(name: string): string[] {
  const plain = name.replaceAll('-', ' ').trim();
  const stripped = [plain.replace(LEGAL_BEFORE, ''), plain.replace(LEGAL_BEHIND, ''), plain.replace(/^(?:the )?(county|parish) of (.+)$/i, '$2 $1')];
  return [...new Set(stripped)].filter((one) => one !== plain);
}

/** The ending of an OCD division id: lower case with accents, no `.`, `_` for spaces, `~` for what is neither letter nor hyphen. */
export function ocdName(name: string): string {
  return name.normalize('NFC').toLowerCase().replaceAll('.', '').replace(/\s+/g, '_').replace(/[^\p{L}\p{N}_-]/gu, '~');
}
