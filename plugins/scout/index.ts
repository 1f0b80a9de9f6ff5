import { definePlugin } from 'civic';
import { instanceCheck } from './check.ts';
import { scoutOptions, type ScoutConfig } from './config.ts';
import { PROGRAM, type Scout } from './context.ts';
import { entriesCommand, exportCommand } from './entries.ts';
import { loginCommand } from './login.ts';
import { reviewCommand } from './review.ts';
import { pagesCommand, runCommand, runsCommand } from './runs.ts';
import { syncCommand } from './sync.ts';

export default definePlugin<ScoutConfig>({
  name: 'scout',
  summary: 'Research on one person\'s machine: runs, review in the terminal, and sync to an instance',
  config: scoutOptions,
  needs: ['directory', 'reader', 'discovery'],
  migrations: `${import.meta.dirname}/migrations`,

  register(_server, civic) {
    const scout: Scout = { civic, directory: civic.service('directory'), research: civic.service('discovery').research };
    const commands = [runCommand, reviewCommand, syncCommand, loginCommand, runsCommand, pagesCommand, entriesCommand, exportCommand];
    for (const command of commands) civic.command({ ...command(scout), program: PROGRAM });
    civic.check(instanceCheck(scout));
    if (!civic.config.respect_robots) civic.service('reader').ignoreRobots();
  },
});
