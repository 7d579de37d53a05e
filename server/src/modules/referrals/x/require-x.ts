import type { Services } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { serverSecret } from '../../accounts/sign-in/server-secret.ts';
import { xClient } from './x-client.ts';

/** X's API, and what binds to it. Throws AppError 'conflict' where the server has no application on X. */
export function requireX({ config, clock }: Pick<Services, 'config' | 'clock'>) {
  if (!config.x) {
    throw new AppError('conflict', {
      publicMessage: 'Posting on X is not configured on this server. Share your invitation link yourself',
    });
  }
  const secret = serverSecret(config);
  return {
    client: xClient(config.x, clock),
    clientId: config.x.clientId,
    secret,
    /** Where X's page leads back to; the application on X names it, too. */
    redirectUri: `${config.publicUrl}/invite`,
    /** How a user's tokens are kept. */
    encryptionOf: (userId: string) => ({ userId, secret, purpose: 'bakehouse x tokens' }),
  };
}
