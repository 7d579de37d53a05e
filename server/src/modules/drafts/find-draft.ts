import type { Context } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { AppError } from '../../platform/errors.ts';
import { type DraftRow, isRunning } from './drafts-table.ts';
import { findDraft } from './queries.ts';

type Caller = Pick<Context, 'caller'>;

/** Returns a draft of the caller. Throws AppError 'not_found'. */
export async function findOwnDraft(
  { db, caller }: Pick<Context, 'db' | 'caller'>,
  id: string,
): Promise<DraftRow> {
  const row = await findDraft(db, { userId: caller.userId, id });
  if (!row) throw noDraft();
  return row;
}

/** Locks and returns a draft of the caller until the transaction ends. Throws AppError 'not_found'. */
export async function lockOwnDraft(tx: Transaction, { caller }: Caller, id: string): Promise<DraftRow> {
  const row = await findDraft(tx, { userId: caller.userId, id, lock: true });
  if (!row) throw noDraft();
  return row;
}

/** Like `lockOwnDraft`, for a draft that is not running. Throws AppError 'conflict' if it is. */
export async function lockRestingDraft(tx: Transaction, ctx: Caller, id: string): Promise<DraftRow> {
  const row = await lockOwnDraft(tx, ctx, id);
  if (isRunning(row))
    throw new AppError('conflict', {
      publicMessage: 'The draft is being written. Wait until it has ended, or cancel it first.',
    });
  return row;
}

function noDraft(): AppError {
  return new AppError('not_found', { publicMessage: 'No draft has this id', param: 'draft_id' });
}
