import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { listParisImages as endpoint } from '@bakehouse/contract/paris';
import type { Context } from '../../../platform/context.ts';
import { listGenerations } from '../../generations/list-generations.ts';
import { toParisImages } from './to-paris-image.ts';

const SHOWN = 20;

/** Returns the caller's last pictures by Paris, newest first. */
export async function listParisImages(ctx: Context): Promise<ResponseOf<typeof endpoint>> {
  const { generations } = await listGenerations(ctx, {
    generator: 'paris',
    state: 'completed',
    limit: SHOWN,
  });
  return { images: generations.flatMap(toParisImages) };
}
