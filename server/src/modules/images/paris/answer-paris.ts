import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { Generation } from '@bakehouse/contract/generations';
import type { generateParisImage } from '@bakehouse/contract/paris';
import type { Http } from '../../../platform/http/bind.ts';
import { refuseUnsuccessful } from '../../generations/start/refuse-unsuccessful.ts';
import { toParisImages } from './to-paris-image.ts';

/**
 * Answers a call of the Paris page with its picture, or with 202 while it is generated. Throws AppError for a generation
 * that has failed or was cancelled.
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
