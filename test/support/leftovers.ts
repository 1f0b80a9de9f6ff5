import { until } from '../../core/test/wait.ts';

/** The state that test files of one process share. Each file must leave it unchanged. */
export interface ProcessState {
  env: Record<string, string | undefined>;
  cwd: string;
  umask: number;
  listeners: Record<string, number>;
  functions: Map<string, unknown>;
  globals: string[];
}

const END_MS = 3000;

/** Functions that tests often replace. */
const REPLACEABLE: [string, object, string[]][] = [
  ['', globalThis, ['Date', 'fetch', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'queueMicrotask', 'WebSocket']],
  ['Date.', Date, ['now']],
  ['Math.', Math, ['random']],
  ['performance.', performance, ['now']],
  ['console.', console, ['log', 'info', 'warn', 'error']],
  ['process.', process, ['exit', 'kill', 'hrtime', 'emitWarning']],
  ['process.stdout.', process.stdout, ['write']],
  ['process.stderr.', process.stderr, ['write']],
];
/** Events of `process` whose listeners affect later files. Libraries add listeners for other events when they are loaded. */
const EVENTS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'uncaughtException', 'unhandledRejection', 'warning', 'message'];

/** Globals that libraries add when they are loaded. Lab can check globals too, but starts a thread for each file. */
const KNOWN_GLOBALS = new Set([
  '_labScriptRun', 'Symbol(graceful-fs.queue)',
  'Symbol(undici.globalDispatcher.1)', 'Symbol(undici.globalDispatcher.2)',
  '__zod_globalConfig', '__zod_globalRegistry', '__core-js_shared__', 'Symbol(signal-exit emitter)',
  // Helpers of tslib, which libraries of certificates bring.
  '__extends', '__assign', '__rest', '__decorate', '__param', '__esDecorate', '__runInitializers', '__propKey', '__setFunctionName', '__metadata', '__awaiter', '__generator',
  '__exportStar', '__createBinding', '__values', '__read', '__spread', '__spreadArrays', '__spreadArray', '__await', '__asyncGenerator', '__asyncDelegator', '__asyncValues',
  '__makeTemplateObject', '__importStar', '__importDefault', '__classPrivateFieldGet', '__classPrivateFieldSet', '__classPrivateFieldIn', '__addDisposableResource',
  '__disposeResources', '__rewriteRelativeImportExtension',
]);

function functions(): Map<string, unknown> {
  return new Map(REPLACEABLE.flatMap(([prefix, owner, names]) => names.map((name) => [prefix + name, (owner as Record<string, unknown>)[name]])));
}

export function readState(): ProcessState {
  return {
    env: { ...process.env },
    cwd: process.cwd(),
    umask: process.umask(),
    listeners: Object.fromEntries(EVENTS.map((event) => [event, process.listenerCount(event)])),
    functions: functions(),
    globals: Reflect.ownKeys(globalThis).map(String),
  };
}

/** Returns descriptions of what differs from before; empty when nothing does. */
export async function leftovers(before: ProcessState): Promise<string[]> {
  const children = await childrenLeft();
  const after = readState();
  const differing = (a: Record<string, unknown>, b: Record<string, unknown>) => [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((key) => a[key] !== b[key]);
  const replaced = [...before.functions].filter(([name, value]) => after.functions.get(name) !== value).map(([name]) => name);
  return [
    ...differing(before.env, after.env).map((name) => `the variable ${name}`),
    ...(after.cwd === before.cwd ? [] : [`the working folder ${after.cwd}`]),
    ...(after.umask === before.umask ? [] : [`the umask ${after.umask.toString(8)}`]),
    ...differing(before.listeners, after.listeners).map((event) => `listeners of process for ${event}`),
    ...replaced.map((name) => `another ${name}`),
    ...after.globals.filter((name) => !before.globals.includes(name) && !KNOWN_GLOBALS.has(name)).map((name) => `the global ${name}`),
    ...children,
  ];
}

/** Returns the child processes that still run, after waiting for those that are about to end. */
async function childrenLeft(): Promise<string[]> {
  const count = () => process.getActiveResourcesInfo().filter((name) => name === 'ProcessWrap').length;
  const hasEnded = await until(() => count() === 0, END_MS).then(() => true, () => false);
  return hasEnded ? [] : [`${count()} running process${count() === 1 ? '' : 'es'}`];
}
