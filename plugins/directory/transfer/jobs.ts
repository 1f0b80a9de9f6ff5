import { Joi, type JobKind } from 'civic';
import type { Transfer } from './service.ts';

const MAX_ATTEMPTS = 5;

export function transferJobs(transfer: Transfer): JobKind[] {
  return [
    {
      name: 'directory.import',
      payload: Joi.object({ id: Joi.string().guid().required() }),
      max_attempts: MAX_ATTEMPTS,
      run: ({ payload, attempt, write, signal, progress }) => transfer.runQueued((payload as { id: string }).id, { write, signal, isLast: attempt >= MAX_ATTEMPTS, onProgress: (done, total) => progress(done, total, 'reading') }),
    },
    { name: 'directory.import_purge', every_seconds: 300, run: () => transfer.uploads.sweep() },
  ];
}
