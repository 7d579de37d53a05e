import { clampParis } from '@bakehouse/contract/generators/parameters/clamp-paris';
import type { GenerationRequest } from '../../generations/start/generation-request.ts';
import type { PictureCall } from '../../generations/start/start-generation.ts';

/** Returns the generation for a call of the Paris page, with values clamped to their limits. */
export function parisRequest({ prompt, ...body }: { prompt: string } & Record<string, unknown>): PictureCall {
  const asked: GenerationRequest = { generator: 'paris', prompt, parameters: clampParis(body) };
  return { sent: asked, read: async () => asked };
}
