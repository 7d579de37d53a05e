import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import * as contract from '@bakehouse/contract/hub/clones';
import type { Context } from '../../../platform/context.ts';
import { recently } from '../../../platform/recently.ts';
import { unknownCursor } from '../../../platform/unknown-cursor.ts';
import { findOwnClone } from './find-own-clone.ts';
import { findClone, selectClones, selectLines } from './queries.ts';
import { toWire } from './to-wire.ts';

/** Returns a clone with the end of its log. */
export async function readStatus(
  ctx: Context,
  { id }: { id: string },
): Promise<ResponseOf<typeof contract.cloneStatus>> {
  const row = await findOwnClone(ctx.db, { id, userId: ctx.caller.userId });
  return { ...toWire(row), files_copying_logs: await selectLines(ctx.db, id, contract.STATUS_LINES_MAX) };
}

export async function readLogs(
  ctx: Context,
  { id }: { id: string },
): Promise<ResponseOf<typeof contract.cloneLogs>> {
  await findOwnClone(ctx.db, { id, userId: ctx.caller.userId });
  return { files_copying_logs: await selectLines(ctx.db, id, contract.LOG_LINES_MAX) };
}

/** Returns the caller's clones, newest first; the cursor is the last clone of the previous page. */
export async function listClones(
  { clock, db, caller: { userId } }: Context,
  { cursor, limit, recent }: InputOf<typeof contract.listClones>['query'],
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
