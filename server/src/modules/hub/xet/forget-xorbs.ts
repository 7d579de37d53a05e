import type { Services } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { deleteUserXorbs, deleteXorbsBefore } from './xorb-queries.ts';

/** A client refers to its uploads within a session of one day, which may last into the next. */
const KEPT_MS = 2 * 24 * 60 * 60 * 1000;

/** Deletes xorbs whose files have been assembled; runs every night. */
export const forgetXorbsJob = defineJob({
  name: 'hub.forget-xorbs',
  schedule: '17 2 * * *',
  run: ({ clock, db }: Pick<Services, 'clock' | 'db'>) =>
    deleteXorbsBefore(db, new Date(clock.now().getTime() - KEPT_MS)),
});

/** Step: deletes the xorbs of a user who deletes their account. */
export async function forgetXorbs(tx: Transaction, userId: string): Promise<void> {
  await deleteUserXorbs(tx, userId);
}
