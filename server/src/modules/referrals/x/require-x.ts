import type { Services } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { serverSecret } from '../../accounts/sign-in/server-secret.ts';
import { xClient } from './x-client.ts';

/** Returns the X client and its parameters. Throws AppError 'conflict' if no X application is configured. */
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
    /** Where X redirects to; registered with the X application as well. */
    redirectUri: `${config.publicUrl}/invite`,
    /** Encryption of a user's tokens. */
    encryptionOf: (userId: string) => ({ userId, secret, purpose: 'bakehouse x tokens' }),
  };
}
