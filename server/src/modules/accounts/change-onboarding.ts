import type { changeOnboarding as contract } from '@bakehouse/contract/accounts';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../platform/context.ts';
import { getMe } from './get-me.ts';
import { setOnboardingDismissed } from './queries.ts';

/** Hides or shows the caller's onboarding checklist; its completed steps stay completed. */
export async function changeOnboarding(
  ctx: Context,
  { body }: InputOf<typeof contract>,
): Promise<ResponseOf<typeof contract>> {
  await setOnboardingDismissed(ctx.db, ctx.caller.userId, body.dismissed ? ctx.clock.now() : null);
  return (await getMe(ctx)).onboarding;
}
