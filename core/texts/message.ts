import { lazily } from '../lazy.ts';
import type { Formats, Time } from './format.ts';
import { LOCALES, type Language } from './language.ts';

export type TextValues = Record<string, unknown>;

/** A parsed text of the catalogue. */
export interface Message {
  /** The names of its values; those of links among them. */
  names: ReadonlySet<string>;
  /** Whether it has elements or links, which plain text cannot show. */
  hasMarkup: boolean;
  html(values: TextValues): string;
  text(values: TextValues): string;
}

export type ParseMessage = (text: string) => Message;

/** An element of a parsed message; `type` is a number of the library. */
interface Element {
  type: number;
  value: string;
  children?: Element[];
  options?: Record<string, { value: Element[] }>;
}

const LITERAL = 0;
const ARGUMENT = 1;
const DATE = 3;
const TIME = 4;
const POUND = 7;
const TAG = 8;

/** Tags in texts that are elements of the page. Any other tag is a link. */
const ELEMENTS = ['code', 'strong', 'em'];

const loadLibrary = lazily(() => import('intl-messageformat'));

/** Returns the parser of texts in one language. It throws for a text that is no ICU message. */
export async function messageParser(language: Language, formats: Formats): Promise<ParseMessage> {
  const { IntlMessageFormat } = await loadLibrary();
  const locale = LOCALES[language];
  const formatters = sharedFormatters();
  // Most texts are plain, and need no parser.
  const parse = (text: string): Element[] => (/[{}<']/.test(text) ? new IntlMessageFormat(text, locale).getAst() as unknown as Element[] : [literal(text)]);

  /** Returns a function that writes the elements. */
  function writer(elements: Element[], shown: Shown): (values: TextValues) => string {
    const prepared = prepare(elements, shown);
    const written = (name: string, values: TextValues): string | number => writtenValue(name, values, shown, formats);
    if (prepared.every(({ type }) => type === LITERAL)) {
      const text = prepared.map(({ value }) => value).join('');
      return () => text;
    }
    // The library takes five times as long for texts without plural, select and number.
    if (prepared.every(({ type }) => type === LITERAL || type === ARGUMENT)) return (values) => prepared.map(({ type, value }) => (type === LITERAL ? value : written(value, values))).join('');
    const format = new IntlMessageFormat(prepared as never, locale, undefined, { formatters });
    const names = [...namesIn(prepared)];
    return (values) => String(format.format(Object.fromEntries(names.map((name) => [name, written(name, values)]))));
  }

  return (text) => {
    const elements = parse(text);
    let html: ((values: TextValues) => string) | undefined;
    let plain: ((values: TextValues) => string) | undefined;
    return {
      names: new Set([...namesIn(prepare(elements, AS_HTML))].map((name) => name.split(' ')[0]!)),
      hasMarkup: has(elements, TAG),
      html: (values) => (html ??= writer(elements, AS_HTML))(values),
      text: (values) => (plain ??= writer(elements, AS_TEXT))(values),
    };
  };
}

/** How a message is written: as HTML, or as plain text. */
interface Shown {
  escape(text: string): string;
  tag(element: Element): Element[];
}

const AS_HTML: Shown = {
  escape: escapeHtml,
  tag: ({ value, children = [] }) => (ELEMENTS.includes(value)
    ? [literal(`<${value}>`), ...children, literal(`</${value}>`)]
    : [literal('<a href="'), { type: ARGUMENT, value }, literal('">'), ...children, literal('</a>')]),
};

const AS_TEXT: Shown = { escape: (text) => text, tag: ({ children = [] }) => children };

function literal(value: string): Element {
  return { type: LITERAL, value };
}

/** Escapes literal text, writes tags as text, and turns dates into values that are formatted beforehand: "at date" is the date of `at`. */
function prepare(elements: Element[], shown: Shown): Element[] {
  return elements.flatMap((element): Element[] => {
    const { type, value, options } = element;
    if (type === LITERAL) return [literal(shown.escape(value))];
    if (type === DATE) return [{ type: ARGUMENT, value: `${value} date` }];
    if (type === TIME) return [{ type: ARGUMENT, value: `${value} time` }];
    if (type === TAG) return shown.tag({ ...element, children: prepare(element.children ?? [], shown) });
    if (!options) return [element];
    return [{ ...element, options: Object.fromEntries(Object.entries(options).map(([name, option]) => [name, { ...option, value: prepare(option.value, shown) }])) }];
  });
}

function namesIn(elements: Element[]): Set<string> {
  return new Set(elements.flatMap(({ type, value, options = {} }) => [
    ...(type === LITERAL || type === POUND ? [] : [value]),
    ...Object.values(options).flatMap((option) => [...namesIn(option.value)]),
  ]));
}

function has(elements: Element[], wanted: number): boolean {
  return elements.some(({ type, options = {} }) => type === wanted || Object.values(options).some((option) => has(option.value, wanted)));
}

/** Returns a value as a message shows it. Numbers stay numbers, which the library formats or chooses a plural form by. */
function writtenValue(name: string, values: TextValues, { escape }: Shown, { formatDate, formatTime }: Formats): string | number {
  const [own, form] = name.split(' ') as [string, 'date' | 'time' | undefined];
  const value = values[own];
  if (value === undefined || value === null) return '';
  if (typeof value === 'number' && form === undefined) return value;
  if (form === undefined) return isSafe(value) ? value.toHTML() : escape(String(value));
  const timeZone = values['timeZone'] as string | undefined;
  return escape((form === 'date' ? formatDate : formatTime)(value as Time, timeZone ?? undefined));
}

/** Handlebars' own mark of text that is HTML already. */
function isSafe(value: unknown): value is { toHTML(): string } {
  return typeof value === 'object' && value !== null && typeof (value as { toHTML?: unknown }).toHTML === 'function';
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#x27;' };

export function escapeHtml(text: string): string {
  return /[&<>"']/.test(text) ? text.replace(/[&<>"']/g, (character) => ESCAPES[character]!) : text;
}

/** One formatter for all messages of a language: the library would create one for each message. */
function sharedFormatters() {
  const numbers = new Map<string, Intl.NumberFormat>();
  const plurals = new Map<string, Intl.PluralRules>();
  const shared = <Made>(known: Map<string, Made>, options: object | undefined, make: () => Made): Made => {
    const key = options === undefined ? '' : JSON.stringify(options);
    const found = known.get(key) ?? make();
    known.set(key, found);
    return found;
  };
  return {
    getNumberFormat: (locale?: string | string[], options?: object) => shared(numbers, options, () => new Intl.NumberFormat(locale, options)),
    getPluralRules: (locale?: string | string[], options?: Intl.PluralRulesOptions) => shared(plurals, options, () => new Intl.PluralRules(locale, options)),
    getDateTimeFormat: (...given: ConstructorParameters<typeof Intl.DateTimeFormat>) => new Intl.DateTimeFormat(...given),
  };
}
