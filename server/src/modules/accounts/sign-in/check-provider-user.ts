import type { BetterAuthOptions } from 'better-auth';
import { getSessionFromCtx } from 'better-auth/api';
import type { Services } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { countSignUp } from './limits/count-sign-up.ts';
import { proveAddress } from './prove-address.ts';

type ValidateUserInfo = NonNullable<NonNullable<BetterAuthOptions['user']>['validateUserInfo']>;

/**
 * What the sign-in library asks before it makes a user of what a provider says, or links the provider
 * to the user who has the address already. An address that the provider has not verified does
 * neither: it may be anybody's. One that it has verified is the person's, whoever had it here before. An account that
 * is made so counts like one with a password.
 */
export function checkProviderUser(services: Services): ValidateUserInfo {
  return async ({ user, source }, ctx) => {
    if (source.method !== 'oauth' || source.action === 'sign-in') return;
    if (!user.emailVerified) {
      return {
        error: 'email_not_verified',
        errorDescription: 'The provider has not verified your email address. Verify it there and try again',
      };
    }
    if (source.action === 'create-user') return tooMany();
    if (source.action === 'link-account' && user.id && user.email) {
      // Who is signed in already links their own account: nobody else has to leave it.
      const session = await getSessionFromCtx(ctx);
      const by = session?.user.id === user.id ? 'own_provider' : 'provider';
      await proveAddress(services, { userId: user.id, email: user.email.toLowerCase(), by });
    }
  };
}

/** Counts a new account; says why it may not be made, if so. */
async function tooMany(): Promise<{ error: string; errorDescription: string } | undefined> {
  try {
    await countSignUp();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'rate_limited') throw error;
    return { error: 'rate_limited', errorDescription: error.publicMessage };
  }
}
