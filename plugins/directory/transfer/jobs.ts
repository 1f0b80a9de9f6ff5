import { Joi, type JobKind } from 'civic';
import type { Transfer } from './service.ts';

export function transferJobs(transfer: Transfer): JobKind[] {
  return [
    {
      name: 'directory.import',
      payload: Joi.object({ id: Joi.string().guid().required() }),
      run: ({ payload, write, signal, progress }) => transfer.runQueued((payload as { id: string }).id, { write, signal, onProgress: (done, total) => progress(done, total, 'reading') }),
    },
    { name: 'directory.import_purge', every_seconds: 86_400, run: () => transfer.purge() },
  ];
}
