import type { Config } from '../../../config.ts';

/** Returns the secret that signs sessions and encrypts keys. Throws if the server was started without one. */
export function serverSecret(config: Config): string {
  if (!config.secret) throw new Error('The server has no secret: set BAKEHOUSE_SECRET');
  return config.secret;
}
