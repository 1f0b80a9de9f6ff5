import type { ConfigFragment } from 'civic';
import { watchOptions, type WatchesConfig } from './watches/config.ts';

export interface WorkspacesConfig extends WatchesConfig {
  max_records: number;
  max_list_items: number;
}

export const workspacesOptions: ConfigFragment = {
  ...watchOptions,
  max_records: { doc: 'How many records of one kind, such as lists or notes, a workspace can have.', format: 'nat', default: 5000 },
  max_list_items: { doc: 'How many entries a list can have.', format: 'nat', default: 2000 },
};
