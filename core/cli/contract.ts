import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fragmentProblems } from '../config/fragment.ts';
import { configOf, type Plugin } from '../plugin.ts';
import { problemKind } from '../problems.ts';
import { vocabularyOf } from '../vocabulary.ts';

/** The part of the plugin contract that can be read off the files: one sentence a fault. */
export function contractFaults(plugin: Plugin, folder: string, foreignTables: string[]): string[] {
  const files = sourceFiles(folder);
  return [
    ...missingPieces(folder),
    ...fragmentProblems(configOf(plugin, vocabularyOf([plugin])) ?? {}),
    ...foreignEvents(plugin),
    ...files.flatMap((file) => fileFaults(file, folder, plugin, foreignTables)),
    ...files.filter((file) => file.startsWith(join(folder, 'migrations', sep))).flatMap((file) => migrationFaults(file).map((fault) => `${relative(folder, file)} ${fault}`)),
  ];
}

const COMMENT = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;

/** A released migration must do the same for ever, so it imports types only. */
export function migrationFaults(file: string): string[] {
  const text = readFileSync(file, 'utf8').replace(COMMENT, '').replace(/^import type [^;]*;/gm, '');
  const imported = [...text.matchAll(IMPORT), ...text.matchAll(/\brequire\(\s*['"]([^'"]+)['"]/g)].map((match) => (match[1] ?? match[2])!);
  return imported.map((specifier) => `imports ${specifier}: a migration imports nothing but types, since what it imports may change`);
}

function missingPieces(folder: string): string[] {
  return existsSync(join(folder, 'README.md')) ? [] : ['README.md is missing: say what the plugin does, in a few lines'];
}

function foreignEvents(plugin: Plugin): string[] {
  return Object.keys(plugin.events ?? {})
    .filter((name) => !name.startsWith(`${plugin.name}.`))
    .map((name) => `The event ${name} must be called ${plugin.name}.…`);
}

function fileFaults(file: string, folder: string, plugin: Plugin, foreignTables: string[]): string[] {
  const text = readFileSync(file, 'utf8');
  const where = relative(folder, file);
  return [
    ...importFaults(text, file, folder).map((fault) => `${where} ${fault}`),
    ...foreignTables.filter((table) => namesTable(text, table)).map((table) => `${where} names the table ${table} of another plugin: ask its service`),
    ...unregisteredCodes(text, plugin).map((code) => `${where} throws the problem "${code}", which is not among its problems`),
  ];
}

const IMPORT = /(?:^|[\s;}])(?:import|export)(?:[^'"`;]*?\sfrom)?\s*['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)/g;

/** A plugin stands on `civic`, on packages and on its own files; never on the inside of core or of another plugin. */
function importFaults(text: string, file: string, folder: string): string[] {
  const specifiers = [...text.matchAll(IMPORT)].map((match) => (match[1] ?? match[2])!);
  return specifiers.flatMap((specifier) => {
    if (specifier.startsWith('civic/') && !isOpenDoor(specifier, text)) return [`imports ${specifier}: only "civic" and "civic/testing" are open`];
    if (!specifier.startsWith('.')) return [];
    const target = resolve(dirname(file), specifier);
    const isOwn = target.startsWith(resolve(folder) + sep);
    return isOwn ? [] : [`imports ${specifier}, which lies outside the plugin`];
  });
}

/** Types of another plugin come by `import type {} from 'civic/<plugin>'`, which leaves nothing behind at run time. */
function isOpenDoor(specifier: string, text: string): boolean {
  if (specifier === 'civic/testing') return true;
  return new RegExp(`import type [^'"]*['"]${specifier}['"]`).test(text) || text.includes(`import('${specifier}')`);
}

function namesTable(text: string, table: string): boolean {
  return new RegExp(`\\b${table}\\b`).test(text);
}

function unregisteredCodes(text: string, plugin: Plugin): string[] {
  const used = [...text.matchAll(/\bproblem\(\s*['"]([a-z0-9_]+)['"]/g)].map((match) => match[1]!);
  return [...new Set(used)].filter((code) => !(plugin.problems && code in plugin.problems) && !problemKind(code));
}

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.name === 'node_modules' || entry.name.startsWith('.')) return [];
    if (entry.isDirectory()) return sourceFiles(path);
    return /\.(js|mjs|ts)$/.test(entry.name) && !entry.name.endsWith('.d.ts') ? [path] : [];
  });
}
