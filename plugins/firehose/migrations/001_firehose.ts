import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  await schema.createSequenceTables('firehose', {
    at: 'time',
    signal_id: 'uuid',
    is_new: 'bool',
    facts: 'text?',
    signal: 'text?',
    facts_before: 'text?',
    signal_before: 'text?',
  });
  // Event ids begin with it: ids of another life of this database are known as such.
  await schema.createTable('firehose_epoch', { id: 'int', epoch: 'text' }, { primary: ['id'] });

  // The present version of each signal, worked out from the log.
  await schema.createTable('firehose_signals', {
    signal_id: 'uuid',
    // Of its first and of its present version.
    born: 'bigint',
    seq: 'bigint',
    type: 'text',
    source_class: 'text',
    audience: 'text',
    // In milliseconds; when it occurred is NEVER for one that has no such time.
    detected: 'bigint',
    occurred: 'bigint',
    relevance: 'real',
  }, {
    primary: ['signal_id'],
    unique: [['born']],
    index: [['seq'], ['detected', 'born'], ['occurred', 'born'], ['relevance', 'born']],
    derived: true,
  });
  await schema.createTable('firehose_terms', { term: 'text', detected: 'bigint', born: 'bigint' }, { primary: ['term', 'detected', 'born'], index: [['born']], derived: true });

  await schema.createTable('firehose_usage', { workspace_id: 'text', period: 'text', signals: 'bigint' }, { primary: ['workspace_id', 'period'] });

  // How many streams each node has open, for limits that hold over all of them.
  await schema.createTable('firehose_open', { node: 'text', account_id: 'text', streams: 'int', seen: 'bigint' }, { primary: ['account_id', 'node'], derived: true });
}
