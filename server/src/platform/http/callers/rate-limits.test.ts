import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { sendError } from '../send-error.ts';
import { limitCalls } from './rate-limits.ts';

/** Returns the rate limit headers of the first call, in one of several processes. */
async function firstCall(perMinute: number, processes: number) {
  const app = Fastify();
  app.setErrorHandler(sendError);
  const config = { rateLimits: true, rateLimitPerMinute: perMinute };
  app.addHook('onRequest', async (request) => {
    request.caller = { kind: 'nobody' };
  });
  const { countCall } = await limitCalls(app, config, () => processes);
  app.get('/', { preHandler: countCall }, async () => 'ok');
  onFileEnd(() => app.close());
  const { headers } = await app.inject('/');
  return [headers['ratelimit-limit'], headers['ratelimit-reset']].map(Number);
}

test.each([
  [6, 1, [6, 60]],
  [6, 3, [2, 60]],
  [6, 6, [1, 60]],
  // In total this is the same rate: 24 processes, each with one call in four minutes.
  [6, 24, [1, 240]],
])('%i calls a minute by %i processes', async (perMinute, processes, said) => {
  expect(await firstCall(perMinute, processes)).toEqual(said);
});
