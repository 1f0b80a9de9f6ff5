import type { DocumentKind } from '../types.ts';

/** The first bytes of archives, office documents, images and sound. */
const OTHERS = ['PK\u0003\u0004', '\u0089PNG', 'GIF8', '\u00ff\u00d8\u00ff', 'RIFF', '\u00d0\u00cf\u0011\u00e0', '\u001f\u008b', 'OggS', 'ID3'];

/** Returns the kind by the first bytes where they show it, else by the content type. */
export function kindOfBytes(body: Uint8Array, contentType: string): DocumentKind | null {
  const head = String.fromCharCode(...body.subarray(0, 1024));
  if (head.includes('%PDF-')) return 'pdf';
  if (OTHERS.some((start) => head.startsWith(start)) || /^(image|audio|video|font)\//i.test(contentType)) return /svg/i.test(contentType) ? null : 'other';
  const isWide = /^(\xff\xfe|\xfe\xff)/.test(head) || /utf-?16/i.test(contentType);
  return head.includes('\0\0') && !isWide ? 'other' : null;
}

/** Returns the kind of a text. */
export function kindOfText(text: string, contentType: string): DocumentKind {
  const head = text.slice(0, 4000).replace(/^\ufeff?(\s*<!--[\s\S]*?-->)*\s*/, '');
  if (/^BEGIN:VCALENDAR\b/i.test(head)) return 'calendar';
  const first = firstTag(head);
  if (first && /^(rss|rdf:rdf|feed|atom:feed)$/i.test(first)) return 'feed';
  if (first === 'html' || /^<!doctype\s+html/i.test(head)) return 'html';
  if (/^<\?xml/i.test(head)) return 'xml';
  if (/^[[{]/.test(head) && !/html/i.test(contentType)) return isJsonFeed(head) ? 'feed' : 'json';
  if (/^[[{]/.test(head) && looksLikeJson(text)) return isJsonFeed(head) ? 'feed' : 'json';
  return kindOfType(contentType, first);
}

function kindOfType(contentType: string, first: string | null): DocumentKind {
  if (/html/i.test(contentType)) return 'html';
  if (/json/i.test(contentType)) return 'json';
  if (/[/+]xml\b/i.test(contentType)) return 'xml';
  if (/calendar/i.test(contentType)) return 'calendar';
  if (first) return 'html';
  return 'text';
}

/** Returns the name of the first element, after declarations and comments. */
function firstTag(head: string): string | null {
  const rest = head.replace(/^(\s*(<\?[^>]*>|<!--[\s\S]*?-->|<!doctype[^>[]*>))*\s*/i, '');
  return /^<([a-z][\w:-]*)/i.exec(rest)?.[1]?.toLowerCase() ?? null;
}

function isJsonFeed(head: string): boolean {
  return /"version"\s*:\s*"https?:\\?\/\\?\/jsonfeed\.org/.test(head);
}

function looksLikeJson(text: string): boolean {
  return /^\s*(\{\s*("|\})|\[\s*[[{"\d\]])/.test(text) && /[}\]]\s*$/.test(text.slice(-200));
}
