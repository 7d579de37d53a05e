import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { generateParisImage as endpoint } from '@bakehouse/contract/paris';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { clientSignal } from '../../../platform/http/client-signal.ts';
import { linkSignals } from '../../../platform/link-signals.ts';
import type { IdleCredit } from '../../credits/usage/with-idle-credit.ts';
import { awaitGeneration } from '../../generations/await-generation.ts';
import { startGeneration } from '../../generations/start/start-generation.ts';
import { answerParis } from './answer-paris.ts';
import { parisRequest } from './paris-request.ts';

const WAIT_MS = 35_000;

/**
 * Generates a picture and waits for it, with a time limit or until the server stops. If the client
 * disconnects, generation continues and `pollParis` finds the picture by the same body. Throws the errors of
 * `startGeneration`.
 */
export async function generateParis(
  ctx: Context,
  usage: IdleCredit,
  body: InputOf<typeof endpoint>['body'],
  http: Http,
): Promise<ResponseOf<typeof endpoint>> {
  const { id } = await startGeneration(ctx, usage, parisRequest(body));
  using over = linkSignals(clientSignal(http.reply), ctx.closing);
  const generation = await awaitGeneration(ctx, id, { ms: WAIT_MS, signal: over.signal });
  return answerParis(generation, http);
}
