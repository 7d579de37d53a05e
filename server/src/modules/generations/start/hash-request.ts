import { createHash } from 'node:crypto';
import type { GenerationRequest } from './generation-request.ts';

/** The same for the same call; a seed that was not chosen is no part of it. */
export function hashRequest(asked: GenerationRequest): string {
  const parameters = Object.entries(asked.parameters).sort(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify([
    asked.generator,
    asked.prompt,
    parameters,
    asked.source?.picture.sha256,
    asked.model,
    ...(asked.service === undefined ? [] : [asked.service]),
  ]);
  return createHash('sha256').update(text).digest('hex');
}
