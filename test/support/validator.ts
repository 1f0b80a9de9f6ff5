import { HtmlValidate } from 'html-validate';

const validator = new HtmlValidate({
  root: true,
  extends: ['html-validate:recommended'],
  rules: {
    'doctype-style': 'off', // `<!doctype html>` is valid.
    'void-style': 'off', // SVG has elements that close themselves.
    'long-title': 'off', // Names and titles come from sources.
    'no-trailing-whitespace': 'off', // Templates indent what they leave out.
    'no-implicit-button-type': 'off', // `submit` is the default, and what buttons of forms are.
    'no-implicit-input-type': 'off', // `text` is the default.
    'tel-non-breaking': 'off', // Telephone numbers are shown as they can be copied.
    'valid-id': ['error', { relaxed: true }], // The anchor of a statement is its id, which may begin with a digit.
    'aria-label-misuse': ['error', { allowAnyNamable: true }], // A list may have a name.
  },
});

/** Returns what is not valid in the HTML of a page. */
export async function htmlFaults(html: string): Promise<string[]> {
  const { results } = await validator.validateString(html);
  return (results[0]?.messages ?? []).map(({ ruleId, message, selector }) => `${ruleId} ${message} ${selector?.replace(/^.* > (?=\S+ > \S+$)/, '') ?? ''}`);
}
