import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { PENDING_REFERRAL_COOKIE } from '@bakehouse/contract/pending-referral';
import type { getPendingReferral as endpoint } from '@bakehouse/contract/referrals';
import type { FastifyRequest } from 'fastify';

/** The code with which this browser came, if it came by an invitation. */
export function getPendingReferral({ headers }: FastifyRequest): ResponseOf<typeof endpoint> {
  const prefix = `${PENDING_REFERRAL_COOKIE}=`;
  const own = headers.cookie?.split('; ').find((cookie) => cookie.startsWith(prefix));
  const code = own?.slice(prefix.length).toLowerCase() ?? '';
  return { referralCode: /^[a-z0-9]{1,40}$/.test(code) ? code : null };
}
