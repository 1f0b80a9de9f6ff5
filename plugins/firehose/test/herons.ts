import type { Plugin } from 'civic';
import { join } from 'node:path';

const { default: plugin } = await import(join(import.meta.dirname, '../../../test/plugins/herons/index.js')) as { default: Plugin };

/** A plugin that declares the signal types `heron_count`, with facts, and `heron_alert`. */
export const herons = plugin;
