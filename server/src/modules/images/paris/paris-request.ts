import { clampParis } from '@bakehouse/contract/generators/parameters/clamp-paris';
import type { GenerationRequest } from '../../generations/start/generation-request.ts';
import type { PictureCall } from '../../generations/start/start-generation.ts';

/** What a call of the Paris page asks for, once what does not fit is put right. Pure. */
export function parisRequest({ prompt, ...body }: { prompt: string } & Record<string, unknown>): PictureCall {
  const asked: GenerationRequest = { generator: 'paris', prompt, parameters: clampParis(body) };
  return { sent: asked, read: async () => asked };
}
