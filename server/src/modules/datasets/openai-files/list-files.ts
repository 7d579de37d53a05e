import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { fromFlatId } from '@bakehouse/contract/fields/flat-id';
import type { listFiles as endpoint } from '@bakehouse/contract/openai-files';
import type { Context } from '../../../platform/context.ts';
import { selectFiles } from './file-queries.ts';
import { findFile, toOpenAiFile } from './find-file.ts';

/**
 * Returns the caller's files, newest first by default. Throws AppError 'not_found' for an unknown `after`.
 */
export async function listFiles(
  ctx: Context,
  { query: { after, limit, ...query } }: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
  const { userId } = ctx.caller;
  if (after !== undefined) await findFile(ctx, after, 'after');
  const cursor = after && fromFlatId(after);
  const found = await selectFiles(ctx.db, { userId, ...query, after: cursor, limit: limit + 1 });
  const data = found.slice(0, limit).map(toOpenAiFile);
  return {
    ...{ object: 'list', data, has_more: found.length > limit },
    ...{ first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null },
  };
}
