import type { createClientKey as endpoint } from '@bakehouse/contract/bagelml';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Caller, Context, UserCaller } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import type { Http } from '../../platform/http/bind.ts';
import { createApiKey } from '../accounts/keys/create-api-key.ts';

/**
 * Creates an additional API key for a caller with the web app's key, which is in the header, or in the body
 * as the npm client sends it. Throws AppError 'unauthenticated' without a key, and 'forbidden' for another
 * user's key or a key that may not manage keys.
 */
export async function createClientKey(
  ctx: Context<Caller>,
  { body }: Pick<InputOf<typeof endpoint>, 'body'>,
  {
    request,
    authenticate,
  }: Pick<Http, 'request'> & { authenticate: (key: string) => Promise<UserCaller | null> },
): Promise<ResponseOf<typeof endpoint>> {
  const header = request.headers['x-api-key'];
  const key = typeof header === 'string' ? header : body.api_key;
  if (key === '')
    throw new AppError('unauthenticated', {
      publicMessage: 'API key not found. Send the key of the web app as api_key',
      param: 'api_key',
    });
  const caller = await authenticate(key);
  if (!caller) throw new AppError('unauthenticated', { publicMessage: 'This API key is not valid' });
  if (caller.userId !== body.userId)
    throw new AppError('forbidden', { publicMessage: 'This belongs to another user', param: 'userId' });
  if (!caller.key?.forWebApp)
    throw new AppError('forbidden', {
      publicMessage: 'This API key cannot manage API keys. Use the key of the web app',
    });
  const made = await createApiKey({ ...ctx, caller }, { body: { name: body.name, scopes: ['everything'] } });
  return { ...made, data: made.secret };
}
