import { isRequired, optionsOf, schemaOf } from './format.ts';
import { variableName } from './load.ts';
import type { ConfigFragment } from './types.ts';

/** What is wrong with the options a plugin declares. */
export function fragmentProblems(fragment: ConfigFragment): string[] {
  const problems: string[] = [];
  const variables = new Map<string, string>();
  for (const [path, option] of optionsOf(fragment)) {
    if (typeof option !== 'object' || option === null) {
      problems.push(`${path} is not an option: write { doc, format, default }`);
      continue;
    }
    const names = [variableName(path), `${variableName(path)}_FILE`];
    const steps = path.split('.');
    if (!steps.every((step) => /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(step))) problems.push(`${path} is not in snake_case`);
    if (steps.some((step) => ['default', 'doc'].includes(step)) || ['enabled', 'from'].includes(path)) problems.push(`${path} has a name that is taken`);
    if (!option.doc) problems.push(`${path} has no doc`);
    const taken = names.find((name) => variables.has(name));
    if (taken) problems.push(`${path} and ${variables.get(taken)} share an environment variable`);
    for (const name of names) variables.set(name, path);
    try {
      const { error } = isRequired(option) ? {} : schemaOf(option).validate(option.default, { convert: false });
      if (error) problems.push(`${path} has a default that its own format refuses`);
    } catch {
      problems.push(`${path} has an unknown format`);
    }
  }
  return problems;
}
