import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { pollParis as endpoint } from '@bakehouse/contract/paris';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { getGeneration } from '../get-generation.ts';
import { hashRequest } from '../hash-request.ts';
import { findByRequest, type GenerationRow } from '../queries.ts';
import { startGeneration } from '../start-generation.ts';
import { answerParis } from './answer-paris.ts';
import { parisRequest } from './paris-request.ts';

/** For so long the same body means the picture that was drawn for it, or hears that it failed. */
const JOINED_MS = { completed: 10 * 60_000, failed: 60_000, cancelled: 0 };

/**
 * Looks for the picture that is drawn, or was just drawn, for the same body; else begins one. Throws what
 * `startGeneration` throws.
 */
export async function pollParis(
  ctx: Context,
  body: InputOf<typeof endpoint>['body'],
  http: Http,
): Promise<ResponseOf<typeof endpoint>> {
  const asked = parisRequest(body);
  const found = await findByRequest(ctx.db, {
    userId: ctx.caller.userId,
    requestSha256: hashRequest(asked),
  });
  const generation =
    found && isJoined(found, ctx.clock.now())
      ? await getGeneration(ctx, found)
      : await startGeneration(ctx, asked);
  return answerParis(generation, http);
}

function isJoined({ state, ended_at }: GenerationRow, now: Date): boolean {
  if (state === 'queued' || state === 'starting' || state === 'running') return true;
  return ended_at !== null && now.getTime() - ended_at.getTime() < JOINED_MS[state];
}
