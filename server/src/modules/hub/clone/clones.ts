import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Clone, startClone as startCloneEndpoint } from '@bakehouse/contract/hub/clones';
import * as contract from '@bakehouse/contract/hub/clones';
import { sql } from 'kysely';
import { DAY_MS, recently } from '../../../platform/clock.ts';
import type { Context, Services } from '../../../platform/context.ts';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { deleteBefore } from '../../../platform/db/retention/delete-before.ts';
import { conflict, tooMany, unknownCursor, unknownId } from '../../../platform/errors.ts';
import { publishChange, publishSignal } from '../../../platform/events/publish-change.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { notify } from '../../notifications/notifications.ts';
import { hubClient } from '../public/hub-client.ts';
import { findHubAccess } from '../public/tokens.ts';
import { type CloneRow, repoOf } from './clones-table.ts';
import { discardFiles } from './copy-file.ts';
import {
  countOpenClones,
  findClone,
  findOpenClone,
  insertClone,
  insertLines,
  lockClone,
  lockOpenClones,
  selectClones,
  selectEndedWithFiles,
  selectLines,
  updateClone,
} from './queries.ts';

/** Wakes the clone loops: a clone is waiting, or a place is free. */
export const CLONES_MOVED = 'clones:moved';

/** Waiting and running clones per user. */
const OPEN_MAX = 20;

/**
 * Retention of a failed clone's copied files, so that a retry can use them. Interrupted uploads are stored as
 * long.
 */
const FILES_KEPT_MS = 7 * DAY_MS;

/** Retention of a clone and its log. An asset stores its origin separately. */
const KEPT_MS = 30 * DAY_MS;

const BATCH = 100;

/**
 * Deletes the files of failed clones after `FILES_KEPT_MS`, and all ended clones after `KEPT_MS`, every
 * night.
 */
export const deleteClonesJob = defineJob({
  name: 'hub.forget-clones',
  schedule: '23 2 * * *',
  run: async (services: Pick<Services, 'blobs' | 'clock' | 'db'>) => {
    const now = services.clock.now().getTime();
    await deleteOldCloneFiles(services, new Date(now - FILES_KEPT_MS));
    const time = new Date(now - KEPT_MS);
    await deleteBefore(services.db, 'hub_clones', { column: 'ended_at', time });
  },
});

/**
 * Starts a clone of the newest commit of a repository, or returns the running one. Throws AppError
 * 'not_found', 'conflict' for a gated repository, 'rate_limited' and 'unavailable'.
 */
export async function startClone(
  ctx: Context,
  { repo_id, dataset_type: datasetType }: InputOf<typeof startCloneEndpoint>['query'],
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

/** Returns a clone with the end of its log. */
export async function readStatus(
  ctx: Context,
  { id }: { id: string },
): Promise<ResponseOf<typeof contract.cloneStatus>> {
  const row = await findUserClone(ctx.db, { id, userId: ctx.caller.userId });
  return { ...toWire(row), files_copying_logs: await selectLines(ctx.db, id, contract.STATUS_LINES_MAX) };
}

export async function readLogs(
  ctx: Context,
  { id }: { id: string },
): Promise<ResponseOf<typeof contract.cloneLogs>> {
  await findUserClone(ctx.db, { id, userId: ctx.caller.userId });
  return { files_copying_logs: await selectLines(ctx.db, id, contract.LOG_LINES_MAX) };
}

/**
 * Returns the caller's clones, newest first; with `recent`, only those that are active or ended recently. The
 * cursor is the last clone of the previous page.
 */
export async function listClones(
  { clock, db, caller: { userId } }: Context,
  { cursor, limit, recent }: InputOf<typeof contract.listClones>['query'] & { recent?: boolean },
): Promise<ResponseOf<typeof contract.listClones>> {
  if (cursor !== undefined && !(await findClone(db, { id: cursor, userId }))) throw unknownCursor();
  const endedSince = recent ? recently(clock.now()) : undefined;
  const found = await selectClones(db, { userId, endedSince, cursor, limit: limit + 1 });
  const page = found.slice(0, limit);
  return {
    clones: page.map(toWire),
    next_cursor: found.length > limit ? (page.at(-1)?.id ?? null) : null,
  };
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
  if ((await countOpenClones(tx, userId)) >= OPEN_MAX)
    throw tooMany(`At most ${OPEN_MAX} clones per user can be unfinished. Try again when one has ended`);
  const inserted = await insertClone(tx, {
    ...{ user_id: userId, repo_id: repoId, dataset_type: datasetType, commit_id: revision },
    ...{ check_at: now, created_at: now },
  });
  // `retryClone` does not take this lock, so a retry of the same repository may have just started.
  if (!inserted) {
    const retried = await findOpenClone(tx, { userId, repoId, datasetType });
    if (retried) return retried;
    throw conflict(`${repoId} has just been cloned`);
  }
  await recordAudit(tx, { userId, action: 'clone.started', detail: { repo_id: repoId, type: datasetType } });
  await announceClone(tx, inserted);
  return inserted;
}

/** Converts a clone to the API's format. */
function toWire(row: CloneRow): Clone {
  const bytesTotal = row.bytes_total === null ? null : Number(row.bytes_total);
  return {
    id: row.id,
    repo_id: row.repo_id,
    dataset_type: row.dataset_type,
    revision: row.commit_id,
    status: row.state,
    reason: row.reason,
    progress: progressOf(row.state, Number(row.bytes_done), bytesTotal),
    files_total: row.files_total,
    files_done: row.files_done,
    bytes_total: bytesTotal,
    bytes_done: Number(row.bytes_done),
    bytes_per_second: row.bytes_per_second === null ? null : Number(row.bytes_per_second),
    asset_id: row.asset_id,
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    ended_at: row.ended_at?.toISOString() ?? null,
  };
}

/** Returns the percentage, rounded down to one decimal. Only a completed clone has 100. */
function progressOf(state: Clone['status'], done: number, total: number | null): number {
  if (state === 'COMPLETED') return 100;
  return total ? Math.min(99.9, Math.floor((done / total) * 1_000) / 10) : 0;
}

/** Step: notifies the owner that a clone has changed, and wakes the clone loops. */
export async function announceClone(
  tx: Transaction,
  { id, user_id: userId }: Pick<CloneRow, 'id' | 'user_id'>,
): Promise<void> {
  await publishChange(tx, userId, { topic: 'clone', id });
  await publishSignal(tx, CLONES_MOVED);
}

async function deleteOldCloneFiles(
  { blobs, db }: Pick<Services, 'blobs' | 'db'>,
  before: Date,
): Promise<void> {
  for (;;) {
    const ended = await selectEndedWithFiles(db, before, BATCH);
    for (const own of ended) {
      const storeKeys = await inTransaction(db, async (tx) => {
        const clone = await lockClone(tx, own);
        // Check again under the lock: the clone may have been retried since the query.
        const isDue = clone?.ended_at != null && clone.ended_at < before;
        return isDue ? discardFiles(tx, own) : [];
      });
      for (const storeKey of storeKeys) await blobs.parts.abandon(storeKey);
    }
    if (ended.length < BATCH) return;
  }
}

/**
 * Resumes a failed or cancelled clone at the commit that it started with. Does nothing if it is running.
 * Throws AppError 'not_found', and 'conflict' if it is complete or if another clone copies the same
 * repository.
 */
export async function retryClone(ctx: Context, { id }: { id: string }): Promise<Clone> {
  const own = { id, userId: ctx.caller.userId };
  await inTransaction(ctx.db, async (tx) => {
    const row = await lockUserClone(tx, own);
    if (row.ended_at === null) return;
    if (row.state === 'COMPLETED') throw conflict(`${row.repo_id} is already cloned`);
    const { repo_id: repoId, dataset_type: datasetType } = row;
    if (await findOpenClone(tx, { userId: own.userId, repoId, datasetType }))
      throw conflict(`${repoId} is already being cloned`);
    const restarted = { state: 'QUEUED', reason: '', attempt: 0, ended_at: null, check_at: ctx.clock.now() };
    await updateClone(tx, id, restarted);
    await insertLines(tx, id, ['Trying again']);
    await announceClone(tx, row);
  });
  return toWire(await findUserClone(ctx.db, own));
}

/**
 * Cancels a clone and discards what it has copied; does nothing if it has ended. Throws AppError 'not_found'.
 */
export async function cancelClone(ctx: Context, { id }: { id: string }): Promise<Clone> {
  const own = { id, userId: ctx.caller.userId };
  const storeKeys = await inTransaction(ctx.db, async (tx) => {
    const row = await lockUserClone(tx, own);
    if (row.ended_at !== null) return [];
    const discarded = await discardFiles(tx, own);
    await endClone(tx, row, { state: 'CANCELLED', reason: 'Cancelled', now: ctx.clock.now() });
    return discarded;
  });
  for (const storeKey of storeKeys) await ctx.blobs.parts.abandon(storeKey);
  return toWire(await findUserClone(ctx.db, own));
}

type Own = { id: string; userId: string };

/** Returns the user's clone. Throws AppError 'not_found'. */
async function findUserClone(db: Database, own: Own): Promise<CloneRow> {
  return orNotFound(await findClone(db, own));
}

/** Locks and returns the user's clone. Throws AppError 'not_found'. */
async function lockUserClone(tx: Transaction, own: Own): Promise<CloneRow> {
  return orNotFound(await lockClone(tx, own));
}

function orNotFound(row: CloneRow | undefined): CloneRow {
  if (!row) throw unknownId('clone');
  return row;
}

type End = { now: Date } & (
  | { state: 'COMPLETED'; assetId: string; title: string }
  | { state: 'FAILED' | 'CANCELLED'; reason: string }
);

/** Step: ends a locked clone, and notifies its owner unless the owner ended it. */
export async function endClone(tx: Transaction, row: CloneRow, end: End): Promise<void> {
  const ended = { state: end.state, ended_at: end.now, lock_token: null, locked_until: null };
  const outcome =
    end.state === 'COMPLETED'
      ? {
          asset_id: end.assetId,
          reason: '',
          files_done: row.files_total ?? 0,
          bytes_done: row.bytes_total ?? 0n,
        }
      : { reason: end.reason };
  await updateClone(tx, row.id, { ...ended, ...outcome, bytes_per_second: null });
  await insertLines(tx, row.id, [end.state === 'COMPLETED' ? `Done: ${end.title}` : end.reason]);
  await announceClone(tx, row);
  const userId = row.user_id;
  if (end.state === 'COMPLETED') {
    const data = { asset_id: end.assetId, dataset_type: row.dataset_type, title: end.title };
    await notify(tx, { userId, kind: 'clone_completed', data });
  } else if (end.state === 'FAILED') {
    const data = { link: '/model-hub?tab=clones', title: row.repo_id };
    await notify(tx, { userId, kind: 'clone_failed', data });
  }
}

/** Step: returns the ids of the uploads with these hashes that belong to the user's clones. */
export async function listCloneUploads(
  tx: Transaction,
  { userId, sha256s }: { userId: string; sha256s: string[] },
): Promise<string[]> {
  const rows = await tx
    .selectFrom('hub_clone_files as f')
    .innerJoin('uploads', 'uploads.id', 'f.upload_id')
    .select('uploads.id')
    .where('uploads.user_id', '=', userId)
    .where(sql<boolean>`uploads.sha256 = any(${sha256s}::text[])`)
    .execute();
  return rows.map(({ id }) => id);
}
