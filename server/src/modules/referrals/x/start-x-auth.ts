import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { startXAuth as endpoint } from '@bakehouse/contract/referrals';
import type { Context } from '../../../platform/context.ts';
import { requireX } from './require-x.ts';
import { makeXState, pkceOf } from './x-state.ts';

const PAGE = 'https://x.com/i/oauth2/authorize';
/** To post, read the username, and refresh tokens after two hours. */
const SCOPES = 'tweet.read tweet.write users.read offline.access';

/** Returns the X authorization URL (OAuth 2.0 with PKCE). */
export function startXAuth({ config, clock, caller }: Context): ResponseOf<typeof endpoint> {
  const { clientId, redirectUri, secret } = requireX({ config, clock });
  const state = makeXState({ userId: caller.userId, secret, now: clock.now() });
  const page = new URL(PAGE);
  page.search = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: SCOPES,
    state,
    code_challenge: pkceOf(state, secret).challenge,
    code_challenge_method: 'S256',
  }).toString();
  return { url: page.href };
}
