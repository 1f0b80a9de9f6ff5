import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Program } from 'civic';

/** The program `bin/scout`: the kit composed for one person's machine. Its options are loaded apart, because `--help` does not need them. */
export const program: Program = {
  name: 'scout',
  title: 'finds civic actors on public pages, on your own machine',
  commands: ['init', 'config show', 'config get', 'config set', 'config path', 'config help', 'doctor', 'migrate', 'backup', 'restore'],
  defaults: { config: '~/.config/scout/scout.yaml', data: '~/.local/share/scout' },
  own: {
    file: (env) => join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'scout', 'scout.yaml'),
    docs: 'plugins/scout/README.md#settings',
    example: { option: 'scraper.request_delay_ms', value: '2000' },
    load: () => import('./options.ts'),
  },
};
