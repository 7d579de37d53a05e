import type { User } from '@bakehouse/contract/accounts';
import type { Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import { findUser, listCompletedSteps } from './queries.ts';

/** Returns the caller with the completed onboarding steps. */
export async function getMe(ctx: Context): Promise<User> {
  const { userId, isOperator } = ctx.caller;
  const [user, done] = await Promise.all([findUser(ctx.db, userId), listCompletedSteps(ctx.db, userId)]);
  if (!user) throw new AppError('not_found', { publicMessage: 'This user does not exist' });
  const steps = {
    create_dataset: { completed: done.has('create_dataset') },
    create_model: { completed: done.has('create_model') },
    fine_tune_model: { completed: done.has('fine_tune_model') },
  };
  return {
    id: user.id,
    username: user.username,
    name: user.name,
    email: user.email,
    email_verified: user.email_verified,
    image_url: user.image,
    is_operator: isOperator,
    is_returning: user.is_returning,
    onboarding: {
      onboarding_completed: Object.values(steps).every((step) => step.completed),
      steps,
      dismissed: user.onboarding_dismissed_at !== null,
    },
  };
}
