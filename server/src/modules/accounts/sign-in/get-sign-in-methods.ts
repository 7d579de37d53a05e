import type { getSignInMethods as endpoint } from '@bakehouse/contract/accounts';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { Services } from '../../../platform/context.ts';

/** Returns the available sign-in methods: always the password; GitHub, Google and mail if configured. */
export function getSignInMethods({ config }: Services): ResponseOf<typeof endpoint> {
  return {
    methods: [
      'password',
      ...(config.github ? (['github'] as const) : []),
      ...(config.google ? (['google'] as const) : []),
    ],
    sends_mail: config.mail !== null,
    referral_bonus: config.referralBonusBgl,
  };
}
