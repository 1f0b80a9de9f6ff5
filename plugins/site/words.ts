import type { Texts } from 'civic';

interface Topic {
  slug: string;
  name: string;
  description: string;
}

/** Returns the name and description of an issue area or a domain in the language of the page. Names of an operator's own taxonomy are not translated. */
export function translatedTopic(t: Texts, kind: 'issue_areas' | 'domains', { slug, name, description }: Topic): { name: string; description: string } {
  const path = `${kind}.${slug}`;
  return { name: t.declared('directory', `${path}.name`, name), description: t.declared('directory', `${path}.description`, description) };
}

/** Returns the name of an issue area in the language of the page. */
export function translatedIssue(t: Texts, slug: string, name: string): string {
  return t.declared('directory', `issue_areas.${slug}.name`, name);
}

/** Returns a text with a link when it is an e-mail address or the URL of a page. */
export function linkOf(text: string | null): { text: string; href: string | null } | null {
  if (text === null) return null;
  if (/^https?:\/\/\S+$/.test(text)) return { text: text.replace(/^https?:\/\//, '').replace(/\/$/, ''), href: text };
  return { text, href: /^[^\s@]+@[^\s@]+$/.test(text) ? `mailto:${text}` : null };
}
