import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { lazily } from '../lazy.ts';
import { projectRoot } from '../root.ts';
import { addTextHelpers, compileTemplate, type Handlebars } from '../texts/helpers.ts';
import type { AllTexts } from '../texts/texts.ts';

/** Core's own templates. */
export const TEMPLATES = join(projectRoot, 'templates');

export interface TemplateOptions {
  /** The folder of the operator's theme. */
  theme: string;
  /** The folders of the plugins that run, by name. */
  folders: Record<string, string>;
  texts: AllTexts;
}

const loadHandlebars = lazily(() => import('handlebars'));

/** Vision's engine, loaded with all partials and texts when the first page is requested. */
export function handlebars({ theme, folders, texts }: TemplateOptions): object {
  const plugins = Object.entries(folders);
  let engine: Handlebars;

  async function load(): Promise<void> {
    const { default: library } = await loadHandlebars();
    const loaded = await texts.load();
    // Own instances have helpers and partials of their own, but lack the visitor of syntax trees.
    engine = Object.assign(library.create(), { Visitor: library.Visitor }) as Handlebars;
    addTextHelpers(engine, loaded);
    for (const folder of [TEMPLATES, theme]) addPartials(join(folder, 'partials'), 'core');
    for (const [plugin, folder] of plugins) {
      for (const templates of [join(folder, 'templates'), join(theme, plugin)]) addPartials(join(templates, 'partials'), plugin);
    }
  }

  function addPartials(folder: string, owner: string): void {
    if (!existsSync(folder)) return;
    for (const file of readdirSync(folder)) {
      if (!file.endsWith('.html')) continue;
      const name = basename(file, '.html');
      engine.registerPartial(owner === 'core' ? name : `${owner}/${name}`, compileTemplate(engine, readFileSync(join(folder, file), 'utf8'), owner));
    }
  }

  /** The plugin whose template this is, also in the theme's version; or core. */
  function ownerOf(file: string): string {
    const isIn = (folder: string): boolean => file.startsWith(folder + sep);
    return plugins.find(([plugin, folder]) => isIn(join(theme, plugin)) || isIn(join(folder, 'templates')))?.[0] ?? 'core';
  }

  return {
    prepare(_config: object, done: (error?: Error) => void) { load().then(() => { done(); }).catch(done); },
    compile(source: string, { filename }: { filename: string }) {
      const template = compileTemplate(engine, source, ownerOf(filename));
      return (context: object, runtime: object) => template(context, runtime);
    },
  };
}
