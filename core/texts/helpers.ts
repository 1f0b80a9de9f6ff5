import type { Formats, Time } from './format.ts';
import { DEFAULT_LANGUAGE, LANGUAGES, type Language } from './language.ts';
import type { TextValues } from './message.ts';
import type { LoadedTexts } from './texts.ts';

export type Handlebars = typeof import('handlebars');
type Template = ReturnType<Handlebars['compile']>;

const TIMES = ['formatDate', 'formatTime', 'formatHour', 'formatDay'] as const;

interface HelperOptions {
  hash: TextValues;
  data?: { root?: { language?: unknown } };
}

/** Adds the helpers that write texts, dates and numbers in the language of the page. */
export function addTextHelpers(engine: Handlebars, texts: LoadedTexts): void {
  const formats = (options: HelperOptions): Formats => texts.formats(languageOf(options));
  const time = (form: (typeof TIMES)[number]) => (value: unknown, options: HelperOptions): string =>
    (value === undefined || value === null ? '' : formats(options)[form](value as Time, options.hash['timeZone'] as string | undefined));

  // The owner is added to every call when a template is compiled.
  engine.registerHelper('t', (owner: string, key: unknown, options?: HelperOptions) => {
    if (!options) throw new Error('{{t}} needs the key of a text');
    return new engine.SafeString(texts.html(owner, languageOf(options), String(key), options.hash));
  });
  // For labels that one plugin hands to another, as the key of a text.
  engine.registerHelper('textOf', (owner: unknown, key: unknown, options: HelperOptions) => new engine.SafeString(texts.html(String(owner), languageOf(options), String(key), {})));
  // Descriptions of the API mark code with backticks.
  engine.registerHelper('withCode', (text: unknown) => new engine.SafeString(String(text ?? '').split('`').map((part, index) => (index % 2 === 1 ? `<code>${engine.escapeExpression(part)}</code>` : engine.escapeExpression(part))).join('')));
  engine.registerHelper('concat', (...given: unknown[]) => given.slice(0, -1).join(''));
  engine.registerHelper('formatNumber', (value: unknown, options: HelperOptions) => (typeof value === 'number' ? formats(options).formatNumber(value) : ''));
  for (const form of TIMES) engine.registerHelper(form, time(form));
}

function languageOf({ data }: HelperOptions): Language {
  return LANGUAGES.find((language) => language === data?.root?.language) ?? DEFAULT_LANGUAGE;
}

/** Compiles a template whose keys belong to a plugin, or to core. */
export function compileTemplate(engine: Handlebars, source: string, owner: string): Template {
  const tree = engine.parse(source);
  new (ownerAdder(engine, owner))().accept(tree);
  return engine.compile(tree, { preventIndent: true });
}

/** Adds the owner to every call of `t`, as its first parameter: a partial keeps its own texts on the pages of other plugins. */
function ownerAdder(engine: Handlebars, owner: string): new () => InstanceType<Handlebars['Visitor']> {
  return class extends engine.Visitor {
    override MustacheStatement(node: hbs.AST.MustacheStatement): void {
      super.MustacheStatement(node);
      addOwner(node, owner);
    }

    override SubExpression(node: hbs.AST.SubExpression): void {
      super.SubExpression(node);
      addOwner(node, owner);
    }
  };
}

function addOwner({ path, params, loc }: hbs.AST.MustacheStatement | hbs.AST.SubExpression, owner: string): void {
  if ((path as hbs.AST.PathExpression).original !== 't') return;
  const literal: hbs.AST.StringLiteral = { type: 'StringLiteral', value: owner, original: owner, loc };
  params.unshift(literal);
}
