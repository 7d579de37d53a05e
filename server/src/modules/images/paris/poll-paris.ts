import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { pollParis as endpoint } from '@bakehouse/contract/paris';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import type { IdleCredit } from '../../credits/usage/with-idle-credit.ts';
import { findByRequest } from '../../generations/find-generations.ts';
import { getGeneration } from '../../generations/get-generation.ts';
import type { GenerationRow } from '../../generations/queries.ts';
import { type Joins, startGeneration } from '../../generations/start/start-generation.ts';
import { answerParis } from './answer-paris.ts';
import { parisRequest } from './paris-request.ts';

/**
 * For this long, the same body returns the same generation or its failure, so that a polling client does not
 * start and pay for another one.
 */
const JOINED_MS = { completed: 10 * 60_000, failed: 3 * 60_000, cancelled: 3 * 60_000 };

/**
 * Returns the running or recent picture for the same body; else starts one, also if that picture was deleted.
 * Throws the errors of `startGeneration`.
 */
export async function pollParis(
  ctx: Context,
  usage: IdleCredit,
  body: InputOf<typeof endpoint>['body'],
  http: Http,
): Promise<ResponseOf<typeof endpoint>> {
  const now = ctx.clock.now();
  const joins: Joins = async (tx, same) => {
    const newest = await findByRequest(tx, same);
    return newest && isJoined(newest, now) ? newest : undefined;
  };
  const { id } = await startGeneration(ctx, usage, parisRequest(body), { joins });
  // A repeated call returns the current state.
  return answerParis(await getGeneration(ctx, { id }), http);
}

function isJoined({ state, ended_at }: GenerationRow, now: Date): boolean {
  if (state === 'queued' || state === 'starting' || state === 'running') return true;
  return ended_at !== null && now.getTime() - ended_at.getTime() < JOINED_MS[state];
}
