import { buffer } from 'node:stream/consumers';
import type { Context } from '../../../platform/context.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import { findOutputs } from '../queries.ts';

/** The bytes of all that a generation has made, compared with their hashes. */
export async function readOutputs(ctx: Context, generationId: string): Promise<Buffer[]> {
  const stored = (await findOutputs(ctx.db, [generationId])).get(generationId) ?? [];
  return Promise.all(
    stored.map(async ({ sha256 }) =>
      buffer(await readBlob(ctx, { sha256, path: `generation ${generationId}` })),
    ),
  );
}
