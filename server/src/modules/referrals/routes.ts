import * as contract from '@bakehouse/contract/referrals';
import { type Binding, bind } from '../../platform/http/bind.ts';
import { clearPendingReferral, generateReferral, getPendingReferral, validateReferral } from './referrals.ts';
import { endXAuth, finishXAuth, getXAuthStatus, startXAuth } from './x/x-auth.ts';
import { getXPostStatus, postReferralToX } from './x/x-posts.ts';

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
  bind(contract.deletePendingReferral, async () => clearPendingReferral()),
];
