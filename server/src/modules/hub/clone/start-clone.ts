import type { InputOf } from '@bakehouse/contract/endpoint';
import type { Clone, startClone as endpoint } from '@bakehouse/contract/hub/clones';
import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError } from '../../../platform/errors.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { hubClient } from '../public/hub-client.ts';
import { findHubAccess } from '../public/tokens.ts';
import { announceClone } from './announce-clone.ts';
import { type CloneRow, repoOf } from './clones-table.ts';
import { countOpenClones, findOpenClone, insertClone, lockOpenClones } from './queries.ts';
import { toWire } from './to-wire.ts';

/** Waiting and running clones per user. */
const OPEN_MAX = 20;

/**
 * Starts a clone of the newest commit of a repository, or returns the running one. Throws AppError
 * 'not_found', 'conflict' for a gated repository, 'rate_limited' and 'unavailable'.
 */
export async function startClone(
  ctx: Context,
  { repo_id, dataset_type: datasetType }: InputOf<typeof endpoint>['query'],
  signal: AbortSignal,
): Promise<Clone> {
  const { userId } = ctx.caller;
  const hub = hubClient(await findHubAccess(ctx, userId), signal);
  const repo = repoOf({ repo_id, dataset_type: datasetType });
  const info = await hub.describe(repo);
  const repoId = info.repo_id;
  if (info.gated) await hub.requireAccess({ ...repo, id: repoId });
  const wanted = { userId, repoId, datasetType, revision: info.revision, now: ctx.clock.now() };
  return toWire(await inTransaction(ctx.db, (tx) => ensureOpenClone(tx, wanted)));
}

type Wanted = {
  userId: string;
  repoId: string;
  datasetType: CloneRow['dataset_type'];
  revision: string;
  now: Date;
};

/**
 * Step: returns the running clone of a repository; starts one if there is none. Throws AppError
 * 'rate_limited' and 'conflict'.
 */
export async function ensureOpenClone(
  tx: Transaction,
  { userId, repoId, datasetType, revision, now }: Wanted,
): Promise<CloneRow> {
  await lockOpenClones(tx, userId);
  const open = await findOpenClone(tx, { userId, repoId, datasetType });
  if (open) return open;
  if ((await countOpenClones(tx, userId)) >= OPEN_MAX) throw tooMany();
  const inserted = await insertClone(tx, {
    ...{ user_id: userId, repo_id: repoId, dataset_type: datasetType, commit_id: revision },
    ...{ check_at: now, created_at: now },
  });
  // A failed clone may just have been retried.
  if (!inserted) {
    const retried = await findOpenClone(tx, { userId, repoId, datasetType });
    if (retried) return retried;
    throw new AppError('conflict', { publicMessage: `${repoId} has just been cloned` });
  }
  await recordAudit(tx, { userId, action: 'clone.started', detail: { repo_id: repoId, type: datasetType } });
  await announceClone(tx, inserted);
  return inserted;
}

function tooMany(): AppError {
  return new AppError('rate_limited', {
    publicMessage: `At most ${OPEN_MAX} clones of one user run or wait at a time. Try again when one has ended`,
  });
}
