import type { Adapter } from './types.ts';

/** The text of a page without rows; each changed line is part of a signal. */
export const page: Adapter = {
  name: 'page',
  label: 'Page',
  source_class: 'organization_update',
  recognises: ({ text }) => text === '' ? 0 : 0.1,
  rows({ url, title, text, main }) {
    const { start, end } = main ?? { start: 0, end: text.length };
    const content = text.slice(start, end);
    return content.trim() === '' ? [] : [{ kind: 'page', key: url, title, text: content, passage: { start, end } }];
  },
};
