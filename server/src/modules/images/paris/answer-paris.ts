import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { Generation } from '@bakehouse/contract/generations';
import type { generateParisImage } from '@bakehouse/contract/paris';
import type { Http } from '../../../platform/http/bind.ts';
import { refuseUnsuccessful } from '../../generations/start/refuse-unsuccessful.ts';
import { toParisImages } from './to-paris-image.ts';

/**
 * Returns the picture for a call of the Paris page, or 202 while it is generated. Throws AppError for a
 * failed or cancelled generation.
 */
export function answerParis(generation: Generation, { reply }: Http): ResponseOf<typeof generateParisImage> {
  refuseUnsuccessful(generation);
  const isDone = generation.state === 'completed';
  if (!isDone) reply.code(202);
  return {
    request_id: generation.id,
    status: isDone ? 'completed' : 'processing',
    images: toParisImages(generation),
  };
}
