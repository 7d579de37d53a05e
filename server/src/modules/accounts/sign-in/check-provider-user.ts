import type { BetterAuthOptions } from 'better-auth';
import { getSessionFromCtx } from 'better-auth/api';
import type { Services } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { countSignUp } from './limits/limit-sign-ups.ts';
import { proveAddress } from './prove-address.ts';

type ValidateUserInfo = NonNullable<NonNullable<BetterAuthOptions['user']>['validateUserInfo']>;

/**
 * Returns the sign-in library's check before a provider creates a user or is linked to the user with the same
 * address. Rejects addresses that the provider has not verified. A verified address belongs to the person who
 * signs in: earlier access to the account ends (`proveAddress`). New accounts count towards the sign-up
 * limits.
 */
export function checkProviderUser(services: Services): ValidateUserInfo {
  return async ({ user, source }, ctx) => {
    if (source.method !== 'oauth' || source.action === 'sign-in') return;
    if (!user.emailVerified) {
      return {
        error: 'email_not_verified',
        errorDescription: 'Your provider has not verified your email address. Verify it there and try again',
      };
    }
    if (source.action === 'create-user') return tooMany();
    if (source.action === 'link-account' && user.id && user.email) {
      // A signed-in user links a provider to their own account, which ends no access.
      const session = await getSessionFromCtx(ctx);
      const by = session?.user.id === user.id ? 'own_provider' : 'provider';
      await proveAddress(services, { userId: user.id, email: user.email.toLowerCase(), by });
    }
  };
}

/** Counts a new account; returns an error if there are too many. */
async function tooMany(): Promise<{ error: string; errorDescription: string } | undefined> {
  try {
    await countSignUp();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'rate_limited') throw error;
    return { error: 'rate_limited', errorDescription: error.publicMessage };
  }
}
