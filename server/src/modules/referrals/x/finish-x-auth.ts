import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { finishXAuth as endpoint } from '@bakehouse/contract/referrals';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError } from '../../../platform/errors.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { requireX } from './require-x.ts';
import { toTokenColumns } from './to-token-columns.ts';
import { XUnauthorized } from './x-client.ts';
import { saveXAccount } from './x-queries.ts';
import { isXState, pkceOf } from './x-state.ts';

/** Connects the X account after X redirected the caller back. */
export async function finishXAuth(
  { config, clock, caller: { userId }, db }: Context,
  { body: { code, state } }: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
  const { client, redirectUri, secret, encryptionOf } = requireX({ config, clock });
  if (!isXState(state, { userId, secret, now: clock.now() })) throw staleConnection();
  try {
    const tokens = await client.exchangeCode(code, { verifier: pkceOf(state, secret).verifier, redirectUri });
    const { id, username } = await client.findAccount(tokens.accessToken);
    const now = clock.now();
    await inTransaction(db, async (tx) => {
      await saveXAccount(tx, {
        user_id: userId,
        x_user_id: id,
        username,
        ...toTokenColumns(tokens, encryptionOf(userId), now),
        connected_at: now,
      });
      await recordAudit(tx, { userId, action: 'x_account.connected', detail: { username } });
    });
    return { status: 'connected', username };
  } catch (error) {
    throw error instanceof XUnauthorized ? staleConnection(error) : error;
  }
}

function staleConnection(cause?: unknown): AppError {
  const publicMessage = 'This X sign-in has expired or was started elsewhere. Connect your account again';
  return new AppError('invalid_request', { publicMessage, param: 'state', cause });
}
