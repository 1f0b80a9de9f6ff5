/** Returns a pattern of alternatives, which are separated by commas or lines. */
export function oneOf(alternatives: string): string {
  return `(?:${alternatives.split(/[,\n]/).map((one) => one.trim()).filter(Boolean).join('|')})`;
}
