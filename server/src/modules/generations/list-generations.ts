import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { listGenerations as endpoint } from '@bakehouse/contract/generations';
import type { GeneratorName } from '@bakehouse/contract/generators';
import type { Context } from '../../platform/context.ts';
import { readSnapshot } from '../../platform/db/read-snapshot.ts';
import { recently } from '../../platform/recently.ts';
import { unknownCursor } from '../../platform/unknown-cursor.ts';
import { findGeneration } from './find-generations.ts';
import { selectGenerations } from './queries.ts';
import { showGenerations } from './show-generations.ts';

/** Returns the caller's generations, newest first; the cursor is the last generation of the previous page. */
export async function listGenerations(
  ctx: Context,
  query: InputOf<typeof endpoint>['query'] & {
    generators?: readonly GeneratorName[];
    model?: string | undefined;
  },
): Promise<ResponseOf<typeof endpoint>> {
  const { userId } = ctx.caller;
  const { cursor, limit, recent, ...wanted } = query;
  const endedSince = recent ? recently(ctx.clock.now()) : undefined;
  return readSnapshot(ctx.db, async (tx) => {
    if (cursor !== undefined && !(await findGeneration(tx, { id: cursor, userId }))) throw unknownCursor();
    const found = await selectGenerations(tx, { ...wanted, userId, endedSince, cursor, limit: limit + 1 });
    const page = found.slice(0, limit);
    return {
      generations: await showGenerations(ctx, tx, page),
      next_cursor: found.length > limit ? (page.at(-1)?.id ?? null) : null,
    };
  });
}
