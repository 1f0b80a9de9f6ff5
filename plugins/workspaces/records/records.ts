import { isId, newId, problem, singleLine, type Joi, type Reader, type Tx } from 'civic';
import type { WorkspaceContext, WorkspaceRole, Workspaces } from '../context.ts';
import { addToTotal, countRecords, deleteRecord, insertRecord, recordById, recordsPage, recordToChange, updateRecord, type Filters, type RecordRow } from './store.ts';

/** A kind of record that a workspace has, such as lists. */
export interface RecordKind<Row extends RecordRow, Shown extends object> {
  /** The last part of its path, and its name in the totals: `lists`. */
  name: string;
  /** In messages: `list`. */
  noun: string;
  /** The name of its id in paths: `list_id`. */
  param: string;
  table: string;
  /** The code of the problem when there is no such record. */
  unknown: string;
  /** The codes of other problems that creating and changing throw. */
  problems?: string[];
  /** The lowest role that creates, changes and deletes; `member` when absent. */
  changedBy?: WorkspaceRole;
  schemas: {
    /** The body that creates one, and the body that changes one: members that are absent stay. */
    created: Joi.ObjectSchema;
    changed: Joi.ObjectSchema;
    shown: Joi.ObjectSchema;
    list: Joi.ObjectSchema;
    /** The filters of the list, each the name of a column. */
    filters?: Record<string, Joi.Schema>;
  };
  /** Checks what a body refers to and returns columns. `row` is the record that it changes. */
  columns(tx: Tx, context: WorkspaceContext, given: Record<string, any>, row?: Row): Promise<Partial<Row>>;
  show(reader: Reader, context: WorkspaceContext, rows: Row[]): Promise<Shown[]>;
  /** Returns a record that is read alone, when it has more members than in a list. */
  showOne?(reader: Reader, context: WorkspaceContext, row: Row): Promise<Shown>;
  /** Deletes what belongs to the record. */
  removing?(tx: Tx, row: Row): Promise<void>;
}

/** What routes, pages and tools do with the records of one kind. */
export interface Records<Row extends RecordRow, Shown extends object> {
  kind: RecordKind<Row, Shown>;
  /** Throws the problem `unknown` of the kind. */
  row(reader: Reader, context: WorkspaceContext, id: string): Promise<Row>;
  /** The same, and locks the row until the transaction ends. */
  rowToChange(tx: Tx, context: WorkspaceContext, id: string): Promise<Row>;
  showOne(reader: Reader, context: WorkspaceContext, row: Row): Promise<Shown>;
  page(reader: Reader, context: WorkspaceContext, filters: Filters, page: { before: number | null; limit: number }): Promise<{ rows: Row[]; shown: Shown[]; total: number; next: number | null }>;
  create(tx: Tx, context: WorkspaceContext, given: object): Promise<Shown>;
  update(tx: Tx, context: WorkspaceContext, row: Row, given: object): Promise<Shown>;
  remove(tx: Tx, context: WorkspaceContext, row: Row): Promise<void>;
}

export function createRecords<Row extends RecordRow, Shown extends object>(workspaces: Workspaces, kind: RecordKind<Row, Shown>): Records<Row, Shown> {
  const { civic } = workspaces;
  const { table, name, noun } = kind;
  const showOne = async (reader: Reader, context: WorkspaceContext, row: Row): Promise<Shown> => kind.showOne?.(reader, context, row) ?? (await kind.show(reader, context, [row]))[0]!;

  function known(row: Row | undefined, id: string): Row {
    if (!row) throw problem(kind.unknown, { detail: `The workspace has no ${noun} with the id ${singleLine(id, 100)}.` });
    return row;
  }

  return {
    kind,
    row: async (reader, { workspace }, id) => known(isId(id) ? await recordById<Row>(reader, table, workspace.id, id.toLowerCase()) : undefined, id),
    rowToChange: async (tx, { workspace }, id) => known(isId(id) ? await recordToChange<Row>(tx, table, workspace.id, id.toLowerCase()) : undefined, id),
    showOne,
    async page(reader, context, filters, { before, limit }) {
      const found = await recordsPage<Row>(reader, table, context.workspace.id, filters, { before, limit: limit + 1 });
      const rows = found.slice(0, limit);
      return {
        rows, shown: await kind.show(reader, context, rows), total: await countRecords(reader, table, context.workspace.id, filters),
        next: found.length > limit ? Number(rows.at(-1)!.key) : null,
      };
    },
    async create(tx, context, given) {
      const { workspace, caller } = context;
      const most = civic.config.max_records;
      // Locks the total. Nothing is written before the checks, because an import goes on after a record that is refused.
      if (await addToTotal(tx, workspace.id, name, 0) >= most) throw problem('record_limit', { detail: `A workspace can have ${most} ${name.replaceAll('-', ' ')}.` });
      const at = civic.clock.iso();
      const columns = await kind.columns(tx, context, given);
      await workspaces.use(tx, context, 'record_writes');
      await addToTotal(tx, workspace.id, name, 1);
      return showOne(tx, context, await insertRecord<Row>(tx, table, { ...columns, id: newId(civic.clock.now()), workspace_id: workspace.id, created_at: at, updated_at: at, created_by: caller.account_id } as Omit<Row, 'key'>));
    },
    async update(tx, context, row, given) {
      const columns = await kind.columns(tx, context, given, row);
      await workspaces.use(tx, context, 'record_writes');
      return showOne(tx, context, await updateRecord<Row>(tx, table, row.key, { ...columns, updated_at: civic.clock.iso() } as Partial<Row>));
    },
    async remove(tx, context, row) {
      await workspaces.use(tx, context, 'record_writes');
      await kind.removing?.(tx, row);
      await deleteRecord(tx, table, row.key);
      await addToTotal(tx, context.workspace.id, name, -1);
    },
  };
}
