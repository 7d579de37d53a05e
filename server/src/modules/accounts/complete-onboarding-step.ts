import type { OnboardingStep } from '@bakehouse/contract/accounts';
import type { Transaction } from '../../platform/db/database.ts';
import { insertCompletedStep } from './queries.ts';

/** Marks an onboarding step as done; the first time counts, further ones change nothing. */
export async function completeOnboardingStep(
  tx: Transaction,
  userId: string,
  step: OnboardingStep,
): Promise<void> {
  await insertCompletedStep(tx, userId, step);
}
