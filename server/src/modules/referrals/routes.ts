import * as contract from '@bakehouse/contract/referrals';
import { type Binding, bind } from '../../platform/http/bind.ts';
import { forgetPendingReferral } from './forget-pending-referral.ts';
import { generateReferral } from './generate-referral.ts';
import { getPendingReferral } from './get-pending-referral.ts';
import { postReferralToX } from './post-referral-to-x.ts';
import { validateReferral } from './validate-referral.ts';

export const referralsRoutes: Binding[] = [
  bind(contract.generateReferral, (ctx) => generateReferral(ctx)),
  // Codes are short: nobody tries many.
  bind(contract.validateReferral, validateReferral, { callsPerMinute: 10 }),
  bind(contract.postReferralToX, async () => postReferralToX()),
  bind(contract.getXAuthStatus, async () => ({ status: 'not_configured' as const })),
  bind(contract.getXPostStatus, async (_ctx, { query }) => ({
    status: 'not_configured' as const,
    referral_code: query.referral_code,
  })),
  bind(contract.getPendingReferral, async (_ctx, _input, { request }) => getPendingReferral(request)),
  bind(contract.forgetPendingReferral, async (_ctx, _input, { reply }) => forgetPendingReferral(reply)),
];
