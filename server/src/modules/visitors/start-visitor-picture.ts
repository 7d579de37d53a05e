import { PARIS_MODEL, paris } from '@bakehouse/contract/generators/paris';
import type { VisitorPicture } from '@bakehouse/contract/visitors';
import type { Caller, Context } from '../../platform/context.ts';
import type { IdleCredit } from '../credits/usage/with-idle-credit.ts';
import { startGeneration } from '../generations/start/start-generation.ts';
import { asVisitor } from './as-visitor.ts';
import { explainRefusal } from './explain-refusal.ts';
import { openBudget } from './open-budget.ts';
import { toVisitorPicture } from './visitor-picture.ts';

/**
 * Generates a picture with the Paris starter at the installation's expense. Throws whatever `openBudget` and
 * `startGeneration` throw, and AppError 'rate_limited' if too many pictures are in progress or today's budget
 * is spent.
 */
export async function startVisitorPicture(
  ctx: Context<Caller>,
  usage: IdleCredit,
  { prompt }: { prompt: string },
): Promise<VisitorPicture> {
  await openBudget(ctx);
  const { starter } = paris;
  const quality = starter?.qualities.find(({ label }) => label === starter.opensOn);
  const request = {
    generator: 'paris',
    prompt,
    model: PARIS_MODEL,
    parameters: quality?.settings ?? {},
  } as const;
  const call = { sent: request, read: () => Promise.resolve(request) };
  return explainRefusal(async () =>
    toVisitorPicture(ctx, await startGeneration(asVisitor(ctx), usage, call)),
  );
}
