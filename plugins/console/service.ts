import type { Civic, Language } from 'civic';
import type { AccountsService } from 'civic/accounts';
import type { ConsoleConfig } from './config.ts';
import { createCounters, type Counters } from './counts.ts';

/** The service of this plugin for other plugins. All members are called in `register`. */
export interface ConsoleService {
  /** Adds entries to "Needs attention". */
  attention(source: AttentionSource): void;
  /** Adds a plot of something that the plugin counts. */
  series(series: Series): void;
}

declare module 'civic' {
  interface Services { console: ConsoleService }
}

export interface AttentionSource {
  /** The name of the plugin, which the console shows when `load` fails. */
  plugin: string;
  /** Returns what needs an administrator now, in a language. Called for each view of the console, so it reads little. */
  load(language: Language): Promise<AttentionEntry[]>;
}

/** Something that an administrator should do. */
export interface AttentionEntry {
  /** What is wrong, in a few words. */
  title: string;
  /** Which value, or why. Never a secret. */
  detail?: string;
  /** The language of `detail`, where it is not that of the page, such as the message of an error. */
  language?: Language;
  /** The next step, in the imperative. */
  advice?: string;
  /** Whether something does not work, as opposed to a warning. Urgent entries are listed first. */
  isUrgent?: boolean;
  /** A page with more, as a path from the root of the instance. */
  link?: { label: string; path: string };
  /** Buttons: each sends an empty form to a route with `formOptions()`. */
  actions?: { label: string; path: string }[];
}

/** A counter that the console plots by hour and day. */
export interface Series {
  /** Begins with the plugin's name and a dot: `herons.counts`. */
  name: string;
  /** The plugin whose catalogue has the text `label`. */
  plugin: string;
  /** The key of a text that names what is counted, in the plural: "Heron counts". */
  label: string;
  /** Returns the count on this node since it started. Called once a minute and for each view. */
  total(): number;
  /** Whether what is counted should not happen; the plot is then red. */
  isBad?: boolean;
  /** Returns how many of them failed; the plot marks them. */
  failed?(): number;
}

/** The parts of the plugin. */
export interface Console {
  civic: Civic<ConsoleConfig>;
  accounts: AccountsService;
  service: ConsoleService;
  counters: Counters;
  series: Series[];
  attention: AttentionSource[];
}

export const failedName = (name: string): string => `${name}.failed`;

export function createConsole(civic: Civic<ConsoleConfig>): Console {
  const counters = createCounters({ db: () => civic.db, clock: civic.clock, log: civic.log });
  const series: Series[] = [];
  const attention: AttentionSource[] = [];
  return {
    civic, counters, series, attention,
    accounts: civic.service('accounts'),
    service: {
      attention(source) { attention.push(source); },
      series(one) {
        if (!one.name.startsWith(`${one.plugin}.`)) throw new Error(`The series "${one.name}" of the plugin ${one.plugin} must begin with "${one.plugin}."`);
        counters.add(one.name, one.total);
        if (one.failed) counters.add(failedName(one.name), one.failed);
        series.push(one);
      },
    },
  };
}
