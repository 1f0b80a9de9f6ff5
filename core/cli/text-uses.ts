import Handlebars from 'handlebars';

/** Where a template or code uses texts. */
export interface TextUses {
  /** Keys, and the names of values that a template gives; null in code, where they are not known. */
  keys: { key: string; values: string[] | null; isInAttribute: boolean }[];
  /** The beginnings of keys that depend on data. */
  prefixes: string[];
  /** Literals in code that may be keys, such as in a table of them. */
  mentioned: string[];
  faults: string[];
}

type Call = hbs.AST.MustacheStatement | hbs.AST.SubExpression;

/** Returns the texts that a template uses. */
export function usesInTemplate(source: string): TextUses {
  const uses: TextUses = { keys: [], prefixes: [], mentioned: [], faults: [] };
  let before = '';
  const note = (call: Call): void => {
    if (nameOf(call.path) !== 't') return;
    const key = call.params[0];
    const line = call.loc.start.line;
    const values = call.hash?.pairs.map((pair) => pair.key) ?? [];
    if (isText(key)) uses.keys.push({ key: key.value, values, isInAttribute: /="[^"<>]*$/.test(before) });
    else if (isConcat(key)) uses.prefixes.push(key.params[0].value);
    else uses.faults.push(`line ${line}: the key of {{t}} is neither a literal nor (concat "…" …) that begins with one`);
  };
  class Calls extends Handlebars.Visitor {
    override MustacheStatement(node: hbs.AST.MustacheStatement): void { super.MustacheStatement(node); note(node); }
    override SubExpression(node: hbs.AST.SubExpression): void { super.SubExpression(node); note(node); }
    override ContentStatement(node: hbs.AST.ContentStatement): void { before = node.value; }
  }
  new Calls().accept(Handlebars.parse(source));
  return uses;
}

function nameOf(path: hbs.AST.Node): string | undefined {
  return (path as hbs.AST.PathExpression).original as string | undefined;
}

function isText(node: hbs.AST.Node | undefined): node is hbs.AST.StringLiteral {
  return node?.type === 'StringLiteral';
}

function isConcat(node: hbs.AST.Node | undefined): node is hbs.AST.SubExpression & { params: [hbs.AST.StringLiteral] } {
  return node?.type === 'SubExpression' && nameOf((node as hbs.AST.SubExpression).path) === 'concat' && isText((node as hbs.AST.SubExpression).params[0]);
}

/** Returns the texts that code uses: `t('key')`, `` t(`begin.${rest}`) ``, `navigation({ text: 'key' })` and messages of forms. */
export function usesInCode(source: string): TextUses {
  const code = source.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const found = (pattern: RegExp): string[] => [...code.matchAll(pattern)].map((match) => match[1]!);
  const ofForms = found(/\.messages\(\{([^}]*)\}/g).flatMap((messages) => [...messages.matchAll(/: '([a-z]\w*(?:\.\w+)+)'/g)].map((match) => match[1]!));
  const keys = [...found(/\bt\('([^']+)'/g), ...found(/\bnavigation\(\{[^}]*\btext: '([^']+)'/g), ...ofForms];
  const unknown = found(/\bt\((`\$\{[^`]*`|[a-z]\w*)[,)]/gi);
  return {
    keys: keys.map((key) => ({ key, values: null, isInAttribute: false })),
    mentioned: found(/'([a-z]\w*(?:\.\w+)+)'/g),
    prefixes: found(/\bt\(`([^`$]+)\$\{/g),
    faults: unknown.map((key) => `t(${key}): the key does not begin with a literal`),
  };
}

const READ_ALOUD = /\s(?:alt|aria-label|aria-description|placeholder|title|label)="([^"]*)"/g;

/** Returns the words of a template that are not in the catalogue. Code is no text. */
export function textOutside(source: string): string[] {
  const html = contentOf(Handlebars.parse(source)).replace(/<!--[^]*?-->|<(script|style|code|pre)\b[^]*?<\/\1>/g, ' ').replace(/&#?\w+;/g, ' ');
  const attributes = [...html.matchAll(READ_ALOUD)].map((match) => match[1]!);
  return [...html.split(/<[^>]*>/), ...attributes].map((text) => text.trim()).filter((text) => /\p{L}/u.test(text));
}

/** What a template writes itself, without the results of expressions. */
function contentOf({ body }: hbs.AST.Program): string {
  return body.map((node) => {
    if (node.type === 'ContentStatement') return (node as hbs.AST.ContentStatement).value;
    const { program, inverse } = node as Partial<hbs.AST.BlockStatement>;
    return [program, inverse].map((inner) => (inner ? contentOf(inner) : '')).join('');
  }).join('');
}
