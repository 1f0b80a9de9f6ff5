import { expect } from '@hapi/code';
import Lab from '@hapi/lab';
import Joi from 'joi';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkConfig } from '../check.ts';
import { type ConfigDocument, pluginError, readConfigFile, readConfigText, type ReadOptions } from '../load.ts';
import { configOrigins, describeErrors, maskedConfig, showConfig } from '../report.ts';
import type { ConfigFragment } from '../types.ts';

export const lab = Lab.script();
const { afterEach, beforeEach, experiment, test } = lab;

const mail: ConfigFragment = {
  password: { doc: 'The password.', format: String, default: null, sensitive: true },
  retries: { doc: 'How often.', format: 'nat', default: 3 },
  mode: { doc: 'How.', format: Joi.alternatives(Joi.number(), Joi.valid('auto')), default: 5 },
  lists: { doc: 'Lists by name.', format: Joi.object().pattern(Joi.string(), Joi.object({ to: Joi.array().items(Joi.string()), open: Joi.boolean().default(true) })), default: { news: { to: [], open: false } } },
  folder: { doc: 'Where.', format: 'path', default: null, nullable: true },
};
const fragments = new Map<string, ConfigFragment | undefined>([['flags', undefined], ['mail', mail]]);

function checked(text: string, more: Partial<ReadOptions> = {}) {
  const document = readConfigText(text, 'config/civic.yaml', { env: {}, args: {}, root: '/kit', cwd: '/here', ...more });
  return { document, ...checkConfig(document, fragments) };
}

function right(text: string, more: Partial<ReadOptions> = {}) {
  const result = checked(text, more);
  expect(result.errors.map((error) => error.message)).to.equal([]);
  return result;
}

experiment('finding the config file', () => {
  let root: string;
  const read = (more: Partial<ReadOptions> = {}): ConfigDocument => readConfigFile({ env: {}, args: {}, root, cwd: root, ...more });

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'civic-config-'));
    mkdirSync(join(root, 'config'));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  test('without any file everything is a default', () => {
    const document = read();
    expect(document.file).to.be.null();
    const { config, errors } = checkConfig(document, new Map());
    expect(errors).to.equal([]);
    expect(config.http.port).to.equal(8080);
    expect(config.plugins).to.equal({});
  });

  test('civic.yaml comes before civic.default.yaml, CIVIC_CONFIG before both, and --config before all', () => {
    for (const name of ['config/civic.default.yaml', 'config/civic.yaml', 'variable.yaml', 'argument.yaml']) writeFileSync(join(root, name), '');
    expect(read({ file: 'argument.yaml', env: { CIVIC_CONFIG: 'variable.yaml' } }).file).to.equal('argument.yaml');
    expect(read({ env: { CIVIC_CONFIG: 'variable.yaml' } }).file).to.equal('variable.yaml');
    expect(read().file).to.equal('config/civic.yaml');
    rmSync(join(root, 'config/civic.yaml'));
    expect(read().file).to.equal('config/civic.default.yaml');
    expect(read({ env: { CIVIC_CONFIG: '' } }).file).to.equal('config/civic.default.yaml');
  });

  test('a file outside the current folder is named by its whole path', () => {
    writeFileSync(join(root, 'config/civic.yaml'), '');
    expect(read({ cwd: '/usr' }).file).to.equal(join(root, 'config/civic.yaml'));
  });

  test('a civic.yaml that cannot be read is an error, never a reason to use the default one', () => {
    writeFileSync(join(root, 'config/civic.default.yaml'), '');
    symlinkSync(join(root, 'gone.yaml'), join(root, 'config/civic.yaml'));
    const dangling = read();
    expect(dangling.errors.map((error) => error.message)).to.equal(['The config file config/civic.yaml does not exist']);
    rmSync(join(root, 'config/civic.yaml'));
    mkdirSync(join(root, 'config/civic.yaml'));
    expect(read().errors.map((error) => error.message)).to.equal(['The config file config/civic.yaml is a folder']);
  });

  test('a byte order mark, Windows line ends and an empty file are fine', () => {
    writeFileSync(join(root, 'config/civic.yaml'), '\uFEFFname: Town\r\nhttp:\r\n  port: "x"\r\n');
    const document = read();
    const { config, errors } = checkConfig(document, new Map());
    expect(config.name).to.equal('Town');
    expect(errors.map((error) => error.where)).to.equal([{ file: 'config/civic.yaml', line: 3, column: 9 }]);
    writeFileSync(join(root, 'config/civic.yaml'), '# nothing\n');
    expect(checkConfig(read(), new Map()).errors).to.equal([]);
  });

  test('a secret comes from a file named by NAME_FILE, without its last line end', () => {
    writeFileSync(join(root, 'url'), 'postgres://u:p@h/d\r\n');
    writeFileSync(join(root, 'name'), 'Two\nlines\n');
    const { config, origins } = right('name: ${TOWN}', { env: { CIVIC_DATABASE_URL_FILE: 'url', TOWN_FILE: 'name' }, cwd: root });
    expect(config.database.url).to.equal('postgres://u:p@h/d');
    expect(config.name).to.equal('Two\nlines');
    expect(origins.get('database.url')).to.equal({ kind: 'environment', where: 'CIVIC_DATABASE_URL_FILE' });
  });
});

experiment('merging the configuration', () => {
  test('a value comes from the argument, else the environment, else the file, else the default', () => {
    const text = 'http: { host: 10.0.0.1, port: 1 }\nname: File';
    const { config, origins } = right(text, { env: { CIVIC_HOST: '10.0.0.2', CIVIC_HTTP_PORT: '2' }, args: { port: '3' } });
    expect([config.name, config.http.host, config.http.port, config.http.cache_max_age]).to.equal(['File', '10.0.0.2', 3, 0]);
    expect(origins.get('name')).to.equal({ kind: 'file', where: 'config/civic.yaml:2' });
    expect(origins.get('http.host')).to.equal({ kind: 'environment', where: 'CIVIC_HOST' });
    expect(origins.get('http.port')).to.equal({ kind: 'argument', where: '--port' });
    expect(origins.get('http.cache_max_age')?.kind).to.equal('default');
  });

  test('the public address is derived from host and port', () => {
    expect(right('').config.public_url).to.equal('http://localhost:8080');
    expect(right('http: { host: "::" }').config.public_url).to.equal('http://localhost:8080');
    expect(right('http: { host: "2001:db8::1", port: 80 }').config.public_url).to.equal('http://[2001:db8::1]:80');
    expect(right('http: { host: civic.lan }').config.public_url).to.equal('http://civic.lan:8080');
    expect(right('', { env: { CIVIC_BASE_URL: 'https://example.org/civic' } }).config.public_url).to.equal('https://example.org/civic');
  });

  test('the public address must be one that paths can be put behind', () => {
    for (const wrong of ['https://a.example/', 'https://a.example/x/', 'ftp://a.example', 'https://a.example?x=1', 'https://a.example#x', 'https://a.example?', 'https://u:p@a.example', 'a.example', '//a.example']) {
      expect(checked(`public_url: ${JSON.stringify(wrong)}`).errors, wrong).to.have.length(1);
    }
  });

  test('paths of the file are relative to the kit, those of environment and arguments to the current folder', () => {
    expect(right('').config.data_dir).to.equal('/kit/data');
    expect(right('data_dir: x').config.data_dir).to.equal('/kit/x');
    expect(right('', { env: { CIVIC_DATA_DIR: 'x' } }).config.data_dir).to.equal('/here/x');
    expect(right('', { args: { data: '../x' } }).config.data_dir).to.equal('/x');
    expect(right('data_dir: /var/civic\nbackup: { folder: b }').config.backup.folder).to.equal('/kit/b');
  });

  test('JSON is understood, and so are anchors and aliases', () => {
    expect(right('{"http": {"port": 1}, "metrics": {"enabled": true}}').config.metrics.enabled).to.be.true();
    expect(right('name: &n Town\nhttp: { fetch: { user_agent: *n } }').config.http.fetch.user_agent).to.equal('Town');
  });

  test('a variable is read as exactly what the option wants', () => {
    const env = { CIVIC_HTTP_TRUSTED_PROXIES: '["10.0.0.0/8"]', CIVIC_METRICS_ENABLED: 'true', CIVIC_DATABASE_URL: 'null', CIVIC_NAME: '7', CIVIC_LOG_LEVEL: '', CIVIC_JOBS_POLL_SECONDS: '0.5', CIVIC_TEST_X: '1', CIVIC_OTHER: '1' };
    const { config } = right('database: { url: "sqlite:x" }', { env });
    expect(config.http.trusted_proxies).to.equal(['10.0.0.0/8']);
    expect([config.metrics.enabled, config.database.url, config.name, config.log.level, config.jobs.poll_seconds]).to.equal([true, null, '7', 'info', 0.5]);
  });

  test('variables are filled in, a lone one as what the option wants, and $${ is left alone', () => {
    const env = { PORT: '99', HOST: 'h', LIST: '["https://a.example"]' };
    const { config } = right('name: a ${HOST} $${HOST} $$ $x\nhttp:\n  port: ${PORT}\n  cors_origins: "${LIST}"', { env });
    expect([config.name, config.http.port, config.http.cors_origins]).to.equal(['a h ${HOST} $$ $x', 99, ['https://a.example']]);
  });

  test('a variable the file asks for is never taken for a mistyped one', () => {
    expect(right('name: ${CIVIC_HTTP_PROT}', { env: { CIVIC_HTTP_PROT: 'x' } }).config.name).to.equal('x');
  });

  test('what is filled in is not filled again', () => {
    expect(right('name: ${A}', { env: { A: '${B}', B: 'x' } }).config.name).to.equal('${B}');
  });
});

experiment('sections of plugins', () => {
  test('an empty section switches a plugin on with its defaults', () => {
    const { config, document } = right('plugins:\n  flags:\n');
    expect(document.plugins).to.equal([{ name: 'flags', enabled: true, from: undefined, where: { file: 'config/civic.yaml', line: 2, column: 3 } }]);
    expect(config.plugins).to.equal({ flags: { enabled: true, from: null } });
  });

  test('a plugin that is off keeps its section unchecked, also in the environment', () => {
    const { config, document } = right('plugins: { mail: { enabled: false, nonsense: 1 } }', { env: { CIVIC_PLUGINS_MAIL_NONSENSE: '1' } });
    expect(document.plugins[0]?.enabled).to.be.false();
    expect(config.plugins.mail).to.equal({ enabled: false, from: null });
  });

  test('the environment can switch a plugin on and off and set its options', () => {
    const env = { CIVIC_PLUGINS_MAIL_ENABLED: 'true', CIVIC_PLUGINS_MAIL_PASSWORD: 'x', CIVIC_PLUGINS_FLAGS_ENABLED: 'false' };
    const { config, document } = right('plugins: { flags: }', { env });
    expect(document.plugins.map(({ name, enabled }) => [name, enabled])).to.equal([['flags', false], ['mail', true]]);
    expect(config.plugins.mail?.password).to.equal('x');
  });

  test('from names where a plugin is loaded from, and such a plugin need not be known', () => {
    const { document } = right('plugins: { mine: { from: ./mine, anything: 1 }, yours: { from: "${WHERE}" } }', { env: { WHERE: 'civic-yours' } });
    expect(document.plugins.map(({ from }) => from)).to.equal(['./mine', 'civic-yours']);
  });

  test('a map in the file replaces the default as a whole, and its own defaults are filled in', () => {
    const text = 'plugins: { mail: { password: x, mode: auto, lists: { "a.b": { to: [x] }, __proto__: {} } } }';
    const { config } = right(text);
    const lists = config.plugins.mail?.lists as object;
    expect(Object.entries(lists)).to.equal([['a.b', { to: ['x'], open: true }]]);
    expect(Object.getPrototypeOf(lists)).to.shallow.equal(Object.prototype);
    expect(config.plugins.mail?.mode).to.equal('auto');
    expect(right('plugins: { mail: { password: x } }').config.plugins.mail?.lists).to.equal({ news: { to: [], open: false } });
  });

  test('composition reports its own errors at the line that names the plugin', () => {
    const { document } = checked('plugins:\n  mail:\n    password: x\n');
    expect(document.where('plugins.mail.password')).to.equal({ file: 'config/civic.yaml', line: 3, column: 5 });
    expect(document.where('plugins.mail.nothing.here')).to.equal({ file: 'config/civic.yaml', line: 2, column: 3 });
    const error = pluginError(document, 'mail', 'mail needs the plugin flags, which is not switched on', { hint: 'add flags: beneath plugins' });
    expect(describeErrors([error], { color: false })).to.equal([
      'The configuration has a mistake:', '', 'config/civic.yaml:2:3', '  mail needs the plugin flags, which is not switched on', '',
      '    2 |   mail: …', '      |   ^^^^', '', '  Fix:  add flags: beneath plugins', '  Read: docs/configuration.md#plugins',
    ].join('\n'));
  });

  test('a file that cannot be understood brings no errors about what it would have switched on', () => {
    const { errors } = checked('plugins: {\n  flags: [', { env: { CIVIC_PLUGINS_FLAGS_MAXIMUM: '3' } });
    expect(errors).to.have.length(1);
  });
});

experiment('showing the configuration', () => {
  const text = 'name: Town\ndatabase: { url: "postgres://u:hunter2@h/d" }\nplugins:\n  mail:\n    password: hunter2\n    lists: { news: { to: [a] } }\n';

  test('as YAML that reads back the same, secrets masked, with where each value came from', () => {
    const { config, origins, schema } = right(text, { env: { CIVIC_PORT: '81' } });
    const plain = showConfig(config, origins, schema, { origin: false, color: false });
    const shown = showConfig(config, origins, schema, { origin: true, color: false });
    expect(shown).to.contain(['name: Town  # from config/civic.yaml:1\n', '  port: 81  # from CIVIC_PORT\n', '  url: "[masked]"  # from config/civic.yaml:2\n', '    password: "[masked]"  # from config/civic.yaml:5\n', '  pool: 10  # default\n']);
    expect(plain + shown).to.not.contain('hunter2');
    const again = checkConfig(readConfigText(shown.replace('url: "[masked]"', 'url: null'), 'shown.yaml', { env: {}, args: {}, root: '/elsewhere', cwd: '/' }), fragments);
    expect(again.errors).to.equal([]);
    expect(maskedConfig(again.config, schema)).to.equal({ ...maskedConfig(config, schema), database: { url: null, driver: 'auto', pool: 10 } });
  });

  test('as JSON, nested or with origins by path', () => {
    const { config, origins, schema } = right(text);
    expect(maskedConfig(config, schema)).to.include({ name: 'Town', database: { url: '[masked]', driver: 'auto', pool: 10 } });
    expect(configOrigins(config, origins, schema)['plugins.mail.password']).to.equal({ value: '[masked]', origin: { kind: 'file', where: 'config/civic.yaml:5' } });
    expect(JSON.stringify([maskedConfig(config, schema), configOrigins(config, origins, schema)])).to.not.contain('hunter2');
  });

  test('colours appear only when asked for', () => {
    const { errors } = checked('nmae: x');
    expect(describeErrors(errors, { color: true })).to.contain('\u001b[31mnmae is not known\u001b[0m');
    expect(describeErrors(errors, { color: false })).to.not.contain('\u001b');
  });
});
