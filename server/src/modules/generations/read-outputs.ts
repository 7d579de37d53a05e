import type { Readable } from 'node:stream';
import type { Context } from '../../platform/context.ts';
import { readBlob } from '../../platform/storage/read-blob.ts';
import { findOutputs } from './find-generations.ts';

/**
 * Returns the bytes of all outputs of a generation; a stream fails if its hash does not match. Throws the
 * errors of `readBlob`.
 */
export async function readOutputs(ctx: Context, generationId: string): Promise<Readable[]> {
  const stored = (await findOutputs(ctx.db, [generationId])).get(generationId) ?? [];
  return Promise.all(
    stored.map(({ sha256 }) => readBlob(ctx, { sha256, path: `generation ${generationId}` })),
  );
}
