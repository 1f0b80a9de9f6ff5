import { foldText } from 'civic';

const LONGEST = 60;

/** Readable, and never given twice: the end of the id tells namesakes apart. It stays when the name changes. */
export function actorSlug(name: string, id: string): string {
  const words = foldText(name).replace(/['’.]/g, '').replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-+|-+$/g, '');
  return [words.slice(0, LONGEST).replace(/-+$/, ''), id.slice(-8)].filter((part) => part !== '').join('-');
}
