import type { Schema } from 'civic';

export async function up(schema: Schema): Promise<void> {
  // The address that listed a row, when the source has another one now.
  await schema.addColumns('ingest_rows', { former_url: 'text?' });
  // Calendars show meetings that vanished as cancelled.
  await schema.raw({
    sqlite: "create index ingest_rows_cancelled on ingest_rows (json_extract(data, '$.start')) where gone_at is not null and cancelled_id is not null",
    postgres: "create index ingest_rows_cancelled on ingest_rows (((data::json ->> 'start') collate \"C\")) where gone_at is not null and cancelled_id is not null",
  });
}
