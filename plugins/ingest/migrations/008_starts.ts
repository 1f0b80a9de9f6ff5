import type { Schema } from 'civic';

/** Calendars read the meetings of all sources by their start. */
export async function up(schema: Schema): Promise<void> {
  await schema.raw({
    sqlite: "create index ingest_rows_starts on ingest_rows (json_extract(data, '$.start')) where gone_at is null",
    postgres: "create index ingest_rows_starts on ingest_rows (((data::json ->> 'start') collate \"C\")) where gone_at is null",
  });
}
