import type { Note } from './notes/notes.ts';
import type { Transfer } from './records/export.ts';
import { plainMarkdown, quotedMarkdown } from './records/markdown.ts';
import type { Review } from './reviews/reviews.ts';
import type { CoverageTarget } from './targets/targets.ts';

const orNull = (cell: string | undefined): string | null => (cell === undefined || cell === '' ? null : cell);

export const noteTransfer: Transfer<Note> = {
  title: 'Notes',
  columns: ['target_type', 'target_id', 'target_name', 'text', 'created_at', 'updated_at'],
  rows: ({ target, text, created_at, updated_at }) => [[target?.type, target?.id, target?.name, text, created_at, updated_at]],
  ofRow: ({ target_type, target_id, text }) => ({ target: orNull(target_type) === null ? null : { type: target_type, id: target_id }, text }),
  ofRecord: ({ target, text }) => ({ target: target ? { type: target.type, id: target.id } : null, text }),
  markdown: ({ target, text, updated_at }) => `## ${target ? plainMarkdown(target.name ?? target.id) : 'Note'}\n\n${target ? `${target.type} \`${target.id}\`, ` : ''}${updated_at}\n\n${quotedMarkdown(text)}`,
};

export const targetTransfer: Transfer<CoverageTarget> = {
  title: 'Coverage targets',
  columns: ['place_key', 'place_name', 'issue_areas', 'wanted', 'state', 'found', 'note', 'created_at', 'updated_at'],
  rows: ({ place, issue_areas, wanted, state, progress, note, created_at, updated_at }) => [[
    place.place_key, place.name, issue_areas.join(' '), wanted, state, progress.map(({ found }) => found).join(' '), note, created_at, updated_at,
  ]],
  ofRow: ({ place_key, issue_areas = '', wanted, note }) => ({ place: place_key, issue_areas: issue_areas.split(/\s+/).filter((slug) => slug !== ''), wanted: Number(wanted), note: orNull(note) }),
  ofRecord: ({ place, issue_areas, wanted, note }) => ({ place: place?.place_key, issue_areas, wanted, note }),
  markdown: ({ place, wanted, state, progress, note }) => [
    `## ${plainMarkdown(place.name ?? place.place_key)}`, '', `${wanted} wanted for each issue; ${state}`, '',
    ...progress.map(({ issue_area, name, found }) => `- ${plainMarkdown(name ?? issue_area)}: ${found}`), ...(note === null ? [] : ['', quotedMarkdown(note)]),
  ].join('\n'),
};

export const reviewTransfer: Transfer<Review> = {
  title: 'Reviews',
  columns: ['target_type', 'target_id', 'target_name', 'status', 'note', 'decided_at', 'created_at'],
  rows: ({ target, entity, status, note, decided_at, created_at }) => [[target.type, target.id, entity.name, status, note, decided_at, created_at]],
  ofRow: ({ target_type, target_id, status, note }) => ({ target: { type: target_type, id: target_id }, status, note: orNull(note) }),
  ofRecord: ({ target, status, note }) => ({ target: { type: target?.type, id: target?.id }, status, note }),
  markdown: ({ target, entity, status, note, decided_at }) => `## ${plainMarkdown(entity.name ?? target.id)}\n\n${status.replaceAll('_', ' ')}, ${decided_at}${note === null ? '' : `\n\n${quotedMarkdown(note)}`}`,
};
