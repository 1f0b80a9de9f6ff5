/** One option, in convict's terms: its default, what it means, and whether it is secret. */
export interface ConfigOption {
  /** One sentence, shown in the example config and by `civic config help`. */
  doc: string;
  /** `String`, `Number` or `Boolean`; `'int'`, `'nat'`, `'port'`, `'url'` or `'path'`; a list of values; or a Joi schema. */
  format: unknown;
  /** `null` without `nullable` makes the option required. */
  default: unknown;
  /** Masked by `config show`, in backups and in logs. */
  sensitive?: boolean;
  /** A further environment variable besides the one worked out from the path. */
  env?: string;
  nullable?: boolean;
}

/** Options by name, nested as deep as they read well. */
export interface ConfigFragment {
  [name: string]: ConfigOption | ConfigFragment;
}

export interface CoreConfig {
  name: string;
  public_url: string;
  demo: boolean;
  data_dir: string;
  shutdown_seconds: number;
  http: {
    host: string;
    port: number;
    trusted_proxies: string[];
    cors_origins: string[];
    cache_max_age: number;
    compress_from_bytes: number;
    fetch: {
      allow_private_addresses: boolean;
      timeout_seconds: number;
      max_bytes: number;
      max_redirects: number;
      user_agent: string;
    };
  };
  database: { url: string | null; driver: 'auto' | 'sqlite3' | 'node'; pool: number };
  log: { level: 'debug' | 'info' | 'warn' | 'error' | 'silent'; access: 'info' | 'warn'; format: 'auto' | 'pretty' | 'json' };
  metrics: { enabled: boolean };
  jobs: { concurrency: number; network_concurrency: number; poll_seconds: number };
  events: { retention_days: number };
  backup: { folder: string | null; before_migrations: boolean };
  plugins: Record<string, PluginConfig>;
}

/** A plugin's section: its own options, and the two that core reads. */
export interface PluginConfig {
  enabled: boolean;
  /** A path or npm package to load the plugin from, when it is not one of the kit's own. */
  from: string | null;
  [option: string]: unknown;
}

/** What a plugin may know of the installation it runs in. */
export interface Instance {
  name: string;
  version: string;
  /** Without a trailing slash. */
  public_url: string;
  data_dir: string;
  /** The User-Agent header of its requests to other hosts. */
  user_agent: string;
  /** Whether the instance shows invented demo data. */
  demo: boolean;
}

/** Where an effective value came from. */
export interface Origin {
  kind: 'default' | 'file' | 'environment' | 'argument';
  /** `config/civic.yaml:12`, `CIVIC_HTTP_PORT`, `--port`. */
  where: string;
}

/** One thing wrong with the configuration, ready to be shown. */
export interface ConfigError {
  /** The file, line and column, the environment variable or the argument it came from. */
  where: { file?: string; line?: number; column?: number; variable?: string; argument?: string };
  /** `plugins.flags.maximum`; empty for the file as a whole. */
  path: string;
  /** A whole sentence, without its full stop. */
  message: string;
  /** The nearest right name, or another way to mend it. */
  hint?: string;
  /** A page of the documentation. */
  read?: string;
  /** What to show of the file: never a secret, never a neighbour's value. */
  frame?: { text: string; caret: number; length: number };
}
