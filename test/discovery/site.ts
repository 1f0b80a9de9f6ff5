import type { IncomingMessage, ServerResponse } from 'node:http';

/** An actor that a page of the web names. */
export interface Planted {
  type: 'person' | 'organization' | 'event';
  name: string;
  url: string;
  /** How the page names it. Lists, tables and structured data are certain; sentences, and names without a word for an organization, are not. */
  by: 'list' | 'table' | 'structured' | 'words';
}

export interface Site {
  origin: string;
  pages: Map<string, string | ((request: IncomingMessage, response: ServerResponse) => void)>;
  /** Paths with their queries, in the order in which they were requested. */
  requests: string[];
}

/** Makes names and notes what the pages name. */
export interface Writer {
  site: Site;
  person(path: string, by: Planted['by']): string;
  plant(type: Planted['type'], name: string, path: string, by: Planted['by']): string;
}

export function html(title: string, body: string, head = ''): string {
  return `<!doctype html><html lang="en"><head><title>${title}</title>${head}</head><body><nav><a href="/">Home</a> <a href="/about">About</a> <a href="/staff">Staff</a> <a href="/board">Board</a>
    <a href="/committees">Committees</a> <a href="/departments">Departments</a> <a href="/news">News</a> <a href="/calendar">Calendar</a> <a href="/partners">Partners</a></nav><main><h1>${title}</h1>${body}</main></body></html>`;
}
