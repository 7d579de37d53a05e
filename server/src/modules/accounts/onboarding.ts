import type {
  changeOnboarding as changeOnboardingEndpoint,
  OnboardingStep,
} from '@bakehouse/contract/accounts';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { insertCompletedStep, setOnboardingDismissed } from './queries.ts';
import { getMe } from './users.ts';

/** Hides or shows the caller's onboarding checklist; its completed steps stay completed. */
export async function changeOnboarding(
  ctx: Context,
  { body }: InputOf<typeof changeOnboardingEndpoint>,
): Promise<ResponseOf<typeof changeOnboardingEndpoint>> {
  await setOnboardingDismissed(ctx.db, ctx.caller.userId, body.dismissed ? ctx.clock.now() : null);
  return (await getMe(ctx)).onboarding;
}

/** Marks an onboarding step as completed. Repeating it has no effect. */
export async function completeOnboardingStep(
  tx: Transaction,
  userId: string,
  step: OnboardingStep,
): Promise<void> {
  await insertCompletedStep(tx, userId, step);
}
