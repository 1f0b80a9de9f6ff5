import { escapeMarkup, isWebUrl } from 'civic';
import { createHash } from 'node:crypto';
import { sourceName } from '../feeds/entry.ts';
import type { ActorDetail } from '../types.ts';
import { describe } from './properties.ts';

const STYLE = 'body{font:13px/1.4 system-ui,sans-serif;margin:8px;color:#1b1b1b;background:#fff}h1{font-size:15px;margin:0 0 2px}p{margin:0 0 6px}ul{margin:0;padding-left:16px}small{color:#555}@media(prefers-color-scheme:dark){body{color:#eee;background:#1b1b1b}small{color:#bbb}a{color:#9cf}}';

/** A client shows the preview in a frame of its own; nothing but this style may be loaded. */
export const PREVIEW_POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors *`;

/** What somebody who compares rows needs to see of an actor. */
export function fragment(actor: ActorDetail, url: string): string {
  const { name, contact, sources, description, identifiers } = actor;
  const link = (url: string, text: string) => (isWebUrl(url) ? `<a href="${escapeMarkup(url)}" target="_blank" rel="noopener">${escapeMarkup(text)}</a>` : escapeMarkup(text));
  const shown = [contact.website && link(contact.website, contact.website), contact.email && escapeMarkup(contact.email), contact.phone && escapeMarkup(contact.phone), ...identifiers.slice(0, 2).map(({ scheme, value }) => escapeMarkup(`${scheme} ${value}`))].filter(Boolean);
  return [
    `<h1>${link(url, name)}</h1>`,
    `<p><small>${escapeMarkup(describe(actor))}</small></p>`,
    description ? `<p>${escapeMarkup(description.length > 240 ? `${description.slice(0, 240)} …` : description)}</p>` : '',
    shown.length > 0 ? `<p>${shown.join(' · ')}</p>` : '',
    `<ul>${sources.slice(0, 3).map((source) => `<li>${link(source.url, sourceName(source))}</li>`).join('')}</ul>`,
  ].join('');
}

export function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeMarkup(title)}</title><style>${STYLE}</style></head><body>${body}</body></html>`;
}
