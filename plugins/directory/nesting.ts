import { MAX_JSON_DEPTH } from 'civic';

/** A map in a list in a map: the parser's stack has an entry for each, and one for the document. */
const MOST = 2 * MAX_JSON_DEPTH;

/** The lexer is recursive over indicators, tags and anchors that follow each other on a line. */
const MANY_INDICATORS = new RegExp(`(?:[-?:!&]\\S*[ \\t]+){${MOST}}`);

/**
 * Returns whether YAML is nested too deep to be parsed. The library is recursive, and a stack overflow in it cannot
 * always be caught: Node aborts the process when a regular expression is compiled near the end of the stack.
 */
export function isDeepYaml({ Lexer, Parser }: Pick<typeof import('yaml'), 'Lexer' | 'Parser'>, text: string): boolean {
  if (MANY_INDICATORS.test(text)) return true;
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    for (const _token of parser.next(lexeme)) if (parser.stack.length > MOST) return true;
    if (parser.stack.length > MOST) return true;
  }
  return false;
}
