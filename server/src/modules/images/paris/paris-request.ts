import { clampParis } from '@bakehouse/contract/generators/parameters/clamp-paris';
import type { Asked } from '../start/start-generation.ts';

/** What a call of the Paris page asks for, once what does not fit is put right. Pure. */
export function parisRequest({ prompt, ...body }: { prompt: string } & Record<string, unknown>): Asked {
  return { generator: 'paris', prompt, parameters: clampParis(body) };
}
