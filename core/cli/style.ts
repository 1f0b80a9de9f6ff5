const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 };

export type Style = keyof typeof CODES;

/** Not Node's `styleText`: that looks at this process's own terminal, and the words may be for that of whoever asked. */
export function styled(style: Style, text: string): string {
  return `\u001b[${CODES[style]}m${text}\u001b[0m`;
}
