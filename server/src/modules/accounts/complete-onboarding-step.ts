import type { OnboardingStep } from '@bakehouse/contract/accounts';
import type { Transaction } from '../../platform/db/database.ts';
import { insertCompletedStep } from './queries.ts';

/** Marks an onboarding step as completed. Repeating it has no effect. */
export async function completeOnboardingStep(
  tx: Transaction,
  userId: string,
  step: OnboardingStep,
): Promise<void> {
  await insertCompletedStep(tx, userId, step);
}
