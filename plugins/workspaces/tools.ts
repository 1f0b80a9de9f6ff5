import { Joi, problem, quoteText, fitData, fitText, type Caller, type Tool } from 'civic';
import { contextIn, type WorkspaceContext, type Workspaces } from './context.ts';
import type { Lists } from './lists/lists.ts';
import { itemShown } from './lists/schemas.ts';
import type { Records } from './records/records.ts';

/** A kind of record that `list_workspace_items` offers. */
export interface ListedKind {
  records: Records<any, any>;
  /** Returns the line of a record in the text of the result. */
  line(shown: any): string;
}

const NEXT = { unknown_list: 'Call list_workspace_items with kind lists.', unknown_actor: 'Use the full id as search_entities returned it.', workspace_forbidden: 'Ask the user to choose another workspace for this assistant.' };

/** Returns the tools with which assistants read the records of a workspace and save entries to its lists. */
export function workspaceTools(workspaces: Workspaces, lists: Lists, kinds: Record<string, ListedKind>): Tool[] {
  const { civic, accounts } = workspaces;
  const names = Object.keys(kinds);

  async function contextOfCaller(reader: Parameters<typeof contextIn>[1], caller: Caller | null): Promise<WorkspaceContext> {
    if (!caller?.workspace_id) throw problem('workspace_forbidden', { detail: 'The credential works in no workspace.' });
    return contextIn(accounts, reader, caller, caller.workspace_id);
  }

  return [
    {
      name: 'list_workspace_items',
      title: 'List workspace items',
      description: 'Returns private records of the user’s workspace: its lists, the entries of one list (with list_id), notes, coverage targets, reviews, briefs or watches, the latest first. Only members of the workspace see them.',
      readOnly: true,
      destructive: false,
      scope: 'workspace:read',
      input: Joi.object({
        kind: Joi.string().valid(...names).default('lists').description('Which records'),
        list_id: Joi.string().description('The id of a list, to return its entries'),
        limit: Joi.number().integer().min(1).max(50).default(25).description('How many records'),
      }),
      output: Joi.object({ workspace: Joi.object({ id: Joi.string().required(), name: Joi.string().required() }).required(), kind: Joi.string().required(), total: Joi.number().integer().required(), data: Joi.array().items(Joi.object().unknown()).required() }),
      advice: NEXT,
      run: ({ kind, list_id, limit }: { kind: string; list_id?: string; limit: number }, { caller, maxBytes }) => civic.db.snapshot(async (tx) => {
        const context = await contextOfCaller(tx, caller);
        const workspace = { id: context.workspace.id, name: context.workspace.name };
        if (list_id !== undefined) {
          const list = await lists.row(tx, context, list_id);
          const { items } = await lists.items(tx, context, list, { after: null, limit });
          const lines = items.map(({ entity_id, entity, note }) => `- ${entity.name === null ? entity.state : quoteText(entity.name)} [entity ${entity_id}]${note === null ? '' : `: ${quoteText(note)}`}`);
          return { data: fitData({ workspace, kind: 'list_items', total: Number(list.item_count), data: items }, maxBytes), text: fitText([`The list ${quoteText(list.name)} has entries: ${list.item_count}.`, ...lines]) };
        }
        const { records, line } = kinds[kind]!;
        const { shown, total } = await records.page(tx, context, {}, { before: null, limit });
        return { data: fitData({ workspace, kind, total, data: shown }, maxBytes), text: fitText([`The workspace ${quoteText(workspace.name)} has ${kind.replaceAll('_', ' ')}: ${total}.`, ...shown.map(line)]) };
      }),
    },
    {
      name: 'save_to_list',
      title: 'Save to a list',
      description: 'Adds an actor to a list of the user’s workspace, with a note. Give list_id from list_workspace_items, or name: a list of that name is used, or created when there is none. An actor that the list has already stays as it is.',
      readOnly: false,
      destructive: false,
      scope: 'workspace:write',
      input: Joi.object({
        entity_id: Joi.string().required().description('The id of the actor, from search_entities'),
        list_id: Joi.string().description('The id of the list'),
        name: Joi.string().trim().min(1).max(200).description('The name of the list, when list_id is not given'),
        note: Joi.string().trim().max(2000).description('Why it is on the list; only members of the workspace read it'),
      }).xor('list_id', 'name'),
      output: Joi.object({ list_id: Joi.string().required(), is_new: Joi.boolean().required(), item: itemShown.required() }),
      advice: NEXT,
      run: ({ entity_id, list_id, name, note }: { entity_id: string; list_id?: string; name?: string; note?: string }, { caller }) => civic.db.write(async (tx) => {
        const context = await contextOfCaller(tx, caller);
        const id = list_id ?? await lists.idOfName(tx, context, name!) ?? (await lists.create(tx, context, { name: name! })).id;
        const list = await lists.rowToChange(tx, context, id);
        const { item, isNew } = await lists.add(tx, context, list, { entity_id, note: note ?? null });
        return { data: { list_id: list.id, is_new: isNew, item }, text: `${isNew ? 'Added' : 'The list has this already'}: ${quoteText(item.entity.name ?? entity_id)} in the list ${quoteText(list.name)}.` };
      }),
    },
  ];
}
