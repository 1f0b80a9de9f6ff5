import type { LinkedDocument } from '../adapters/types.ts';
import { cleanTitle } from '../text/titles.ts';
import type { Line } from './lines.ts';

const FILE = /\.(?:pdf|docx?|xlsx?|pptx?|mp[34]|m4a)(?:$|[?#])|agenda|minutes|notice|packet|presentation|viewfile|view\.ashx|mediaplayer|youtu/i;

/** Returns the agendas, minutes and other files that a line links to. */
export function documentsOf({ links }: Pick<Line, 'links'>): LinkedDocument[] {
  return links.filter(({ url, text }) => /^https?:/.test(url) && (FILE.test(url) || FILE.test(text))).map(({ url, text }) => ({ url, title: cleanTitle(text) || 'Document' }));
}
