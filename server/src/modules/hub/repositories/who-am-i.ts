import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { whoAmI as endpoint } from '@bakehouse/contract/hub/repositories';
import type { Context } from '../../../platform/context.ts';
import { getMe } from '../../accounts/get-me.ts';
import { namespaceOf } from '../../assets/repositories/namespace.ts';

/** Returns the caller and their namespace. */
export async function whoAmI(ctx: Context): Promise<ResponseOf<typeof endpoint>> {
  const me = await getMe(ctx);
  const mayWrite = ctx.caller.key?.scopes.includes('everything') ?? true;
  return {
    type: 'user',
    id: me.id,
    name: namespaceOf(me.username),
    fullname: me.name,
    email: me.email,
    emailVerified: me.email_verified,
    isPro: false,
    canPay: false,
    orgs: [],
    auth: {
      type: 'access_token',
      accessToken: { displayName: 'Bakehouse', role: mayWrite ? 'write' : 'read' },
    },
  };
}
