import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { GeneratorName } from '@bakehouse/contract/generators';
import type { Services } from '../../../platform/context.ts';
import { storeBlob } from '../../../platform/storage/store-blob.ts';
import { PIXEL } from './image-server.ts';

/** For tests: a finished generation with a picture of one pixel; a failed generation without a picture. */
export async function insertPicture(
  services: Services,
  {
    userId,
    prompt,
    generator = 'paris',
    hasPicture = true,
  }: { userId: string; prompt: string; generator?: GeneratorName; hasPicture?: boolean },
): Promise<{ id: string; outputId: string }> {
  const { db } = services;
  const now = services.clock.now();
  const { id } = await db
    .insertInto('generations')
    .values({
      ...{ user_id: userId, generator, provider: 'own', model: 'paris-ddm-v1.0', prompt },
      ...{ parameters: '{}', seed: 1n, request_sha256: '', steps: 1 },
      ...{
        state: hasPicture ? 'completed' : 'failed',
        hold_id: randomUUID(),
        held_micro: 1n,
        charged_micro: 1n,
      },
      ...{ check_at: now, created_at: now, ended_at: now },
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  if (!hasPicture) return { id, outputId: '' };
  const { sha256, sizeBytes } = await storeBlob(services, Readable.from([Buffer.from(PIXEL, 'base64')]));
  const output = await db
    .insertInto('generation_outputs')
    .values({
      ...{ generation_id: id, user_id: userId, sha256, size_bytes: BigInt(sizeBytes) },
      ...{ media_type: 'image/png', width: 1, height: 1 },
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return { id, outputId: output.id };
}
