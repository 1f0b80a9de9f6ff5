import { layOutJson } from '../layout.ts';
import { FORM_TYPE, type Call } from './call.ts';

/** Returns a command that sends a request and prints the response. */
export function curl(call: Call): string {
  return command(call, call.seconds ? [`-N --max-time ${call.seconds}`] : [], '');
}

/** Returns a command that stores a value of the response in a shell variable. */
export function assignment(variable: string, call: Call, take: string): string {
  return `${variable}=$(${command(call, ['-s'], ` | jq ${take === '.' ? '-c' : '-r'} ${word(take)}`)})`;
}

/** Returns a command that stores a value of a stored response in a shell variable. */
export function extraction(variable: string, from: string, take: string): string {
  return `${variable}=$(printf %s "${from}" | jq -r ${word(take)})`;
}

/** Returns a curl command. `end` follows its last line, before the here-document with its input. */
function command({ method, url, headers, body, type }: Call, options: string[], end: string): string {
  const sent = dataOf(body, type);
  const verb = method === 'GET' || (method === 'POST' && sent.options.length > 0) ? [] : [`-X ${method}`];
  const lines = [['curl', ...options, ...verb, quoted(url)].join(' '), ...headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`), ...sent.options];
  return `${lines.join(' \\\n  ')}${sent.input === null ? end : `${sent.opening}${end}\n${sent.input}\n`}`;
}

interface SentData {
  options: string[];
  /** The here-document that curl reads as its input; `opening` is the operator before it. */
  input: string | null;
  opening: string;
}

function dataOf(body: unknown, type: string | undefined): SentData {
  const options = body === undefined ? [] : inlineOptions(body, type);
  if (typeof body !== 'object' || type === FORM_TYPE || !hasVariable(JSON.stringify(body))) return { options, input: null, opening: '' };
  // Escaped quotes of JSON inside quotes of the shell would be unreadable.
  return { options: ['-d @-'], opening: ' <<JSON', input: `${layOutJson(body)}\nJSON` };
}

function inlineOptions(body: unknown, type: string | undefined): string[] {
  if (type === FORM_TYPE) return Object.entries(body as Record<string, string>).map(([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`);
  return typeof body === 'string' ? [`--data-binary ${quoted(body)}`] : [`-d ${quoted(layOutJson(body))}`];
}

function hasVariable(text: string): boolean {
  return /\$[A-Za-z_]/.test(text);
}

/** Quotes a text for the shell, so that only variables in it are expanded. */
function quoted(text: string): string {
  return hasVariable(text) ? `"${text.replace(/["\\`]/g, '\\$&')}"` : `'${text.replaceAll("'", `'\\''`)}'`;
}

function word(text: string): string {
  return /^[\w.]+$/.test(text) ? text : quoted(text);
}
