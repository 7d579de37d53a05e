import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { endpointUrl } from '@bakehouse/contract/endpoint-url';
import { type linkCar as endpoint, openCarLink as openEndpoint } from '@bakehouse/contract/ipfs';
import type { Config } from '../../../config.ts';
import type { Context, Services } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { isSameSecret, signatureOf } from '../../../platform/signature.ts';
import { serverSecret } from '../../accounts/sign-in/server-secret.ts';
import { isAccountThere } from '../../accounts/steps.ts';
import { findCar } from './find-car.ts';
import { sendCar } from './send-car.ts';

/** As long as a link to a file. */
const LIFE_S = 60 * 60;

type Claims = { user: string; asset: string; revision: string; path: string; expires: number };

/** A link to a CAR, for whoever it is given to: it opens for an hour, while the caller may read it. Throws what `findCar` throws. */
export async function linkCar(
  ctx: Context,
  { params, query }: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
  const { userId: user } = ctx.caller;
  const { revision_id: wanted, path } = query;
  const { revisionId } = await findCar(ctx, { assetId: params.id, userId: user, revisionId: wanted, path });
  const expires = Math.floor(ctx.clock.now().getTime() / 1000) + LIFE_S;
  const claims = { user, asset: params.id, revision: revisionId, path: path ?? '', expires };
  return {
    url: endpointUrl(openEndpoint.path, {}, { ...claims, signature: sign(ctx.config, claims) }),
    expires_at: new Date(expires * 1000).toISOString(),
  };
}

/**
 * Answers whoever has a link with the CAR that it names. Throws AppError 'forbidden' for a link that this server has not
 * made, 'gone' for one whose time is over, and what `findCar` throws for whoever has made it.
 */
export async function openCarLink(
  services: Services,
  { query }: Pick<InputOf<typeof openEndpoint>, 'query'>,
  http: Http,
): Promise<void> {
  const { signature, ...claims } = query;
  if (!isSameSecret(sign(services.config, claims), signature)) {
    throw new AppError('forbidden', {
      publicMessage: 'This link was not made by this server, or has been changed. Ask for a new one.',
      param: 'signature',
    });
  }
  if (claims.expires * 1000 <= services.clock.now().getTime()) {
    throw new AppError('gone', {
      publicMessage: 'This link has expired. Ask for a new one.',
      param: 'expires',
    });
  }
  if (!(await isAccountThere(services.db, claims.user)))
    throw new AppError('not_found', { publicMessage: 'These files are no longer there' });
  const { user: userId, asset: assetId, revision: revisionId, path } = claims;
  await sendCar(http, await findCar(services, { userId, assetId, revisionId, path: path || undefined }));
}

function sign(config: Config, { user, asset, revision, path, expires }: Claims): string {
  return signatureOf(serverSecret(config), 'car links', [user, asset, revision, path, expires]);
}
