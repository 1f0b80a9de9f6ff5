import { definePlugin } from 'civic';
import { scoutOptions, type ScoutConfig } from './config.ts';

export default definePlugin<ScoutConfig>({
  name: 'scout',
  summary: 'Research on one person\'s machine: runs, review in the terminal, and sync to an instance',
  config: scoutOptions,
  needs: ['directory', 'reader', 'discovery'],
  register() {},
});
