import { endpointUrl } from '@bakehouse/contract/endpoint-url';
import { titleOf } from '@bakehouse/contract/generators/stand-in';
import { openSharedOutput, type SharedGeneration } from '@bakehouse/contract/share-links';
import { AppError } from '../../platform/errors.ts';
import { findGeneration, findOutputs } from '../generations/find-generations.ts';
import type { Shared } from './find-shared.ts';

/** A shared generation with its outputs. Throws AppError 'not_found'. */
export async function findSharedGeneration({ kind, id, userId, ownerCtx: { db } }: Shared) {
  const row = kind === 'generation' ? await findGeneration(db, { id, userId }) : undefined;
  if (!row) throw new AppError('not_found', { publicMessage: 'No generation has this id' });
  return { row, outputs: (await findOutputs(db, [id])).get(id) ?? [] };
}

/** What a link shows of a generation. */
export async function describeGeneration(shared: Shared): Promise<SharedGeneration> {
  const { token, maker } = shared;
  const { row, outputs } = await findSharedGeneration(shared);
  return {
    kind: 'generation',
    ...{ generator: row.generator, title: titleOf(row.generator, row.model), prompt: row.prompt, maker },
    outputs: outputs.map((output) => {
      const { id, media_type, width, height, duration_s, has_audio } = output;
      const url = sharedOutputUrl(token, id);
      const hasThumbnail = output.thumbnail_sha256 !== null;
      const thumbnail_url = hasThumbnail ? sharedOutputUrl(token, id, { thumbnail: true }) : url;
      return { id, media_type, width, height, duration_s, has_audio, url, thumbnail_url };
    }),
    created_at: row.created_at.toISOString(),
  };
}

function sharedOutputUrl(token: string, outputId: string, query?: { thumbnail: boolean }): string {
  return endpointUrl(openSharedOutput.path, { token, outputId }, query);
}
