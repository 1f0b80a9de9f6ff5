/** Returns a text as one line of Markdown in which no character has a meaning. */
export function plainMarkdown(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().replaceAll(/[\\`*_{}[\]<>()#+!|~-]/g, (sign) => `\\${sign}`);
}

/** Returns a text of several lines as a quotation in which no character has a meaning. */
export function quotedMarkdown(text: string): string {
  return text.split(/\r\n|\n|\r/).map((line) => `> ${plainMarkdown(line)}`.trimEnd()).join('\n');
}
