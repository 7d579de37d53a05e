import * as contract from '@bakehouse/contract/referrals';
import { type Binding, bind } from '../../platform/http/bind.ts';
import { generateReferral } from './generate-referral.ts';
import { forgetPendingReferral, getPendingReferral } from './pending-referral.ts';
import { validateReferral } from './validate-referral.ts';
import { endXAuth } from './x/end-x-auth.ts';
import { finishXAuth } from './x/finish-x-auth.ts';
import { getXAuthStatus } from './x/get-x-auth-status.ts';
import { getXPostStatus } from './x/get-x-post-status.ts';
import { postReferralToX } from './x/post-referral-to-x.ts';
import { startXAuth } from './x/start-x-auth.ts';

export const referralsRoutes: Binding[] = [
  bind(contract.generateReferral, (ctx) => generateReferral(ctx)),
  // Short codes must not be guessable.
  bind(contract.validateReferral, validateReferral, { callsPerMinute: 10 }),
  bind(contract.postReferralToX, postReferralToX, { callsPerMinute: 10 }),
  bind(contract.getXAuthStatus, (ctx) => getXAuthStatus(ctx)),
  bind(contract.startXAuth, async (ctx) => startXAuth(ctx)),
  bind(contract.finishXAuth, finishXAuth, { callsPerMinute: 10 }),
  bind(contract.endXAuth, (ctx) => endXAuth(ctx)),
  bind(contract.getXPostStatus, getXPostStatus),
  bind(contract.getPendingReferral, async (_ctx, _input, { request }) => getPendingReferral(request)),
  bind(contract.forgetPendingReferral, async (_ctx, _input, { reply }) => forgetPendingReferral(reply)),
];
