import type { Readable } from 'node:stream';
import type { Context } from '../../platform/context.ts';
import { readBlob } from '../../platform/storage/read-blob.ts';
import { findOutputs } from './find-generations.ts';

/** The bytes of all that a generation has made, which break off where they have not their hash. Throws what `readBlob` throws. */
export async function readOutputs(ctx: Context, generationId: string): Promise<Readable[]> {
  const stored = (await findOutputs(ctx.db, [generationId])).get(generationId) ?? [];
  return Promise.all(
    stored.map(({ sha256 }) => readBlob(ctx, { sha256, path: `generation ${generationId}` })),
  );
}
