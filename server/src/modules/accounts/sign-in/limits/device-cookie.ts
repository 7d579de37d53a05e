import { randomBytes } from 'node:crypto';
import { isSameSecret, signatureOfText } from '../../../../platform/signature.ts';

const NAME = 'bakehouse.device';
const AGE_S = 400 * 24 * 3600;

/**
 * Returns the cookie that a browser stores after signing in with this address: a random name of the browser,
 * and a signature that binds it to the address.
 */
export function makeDeviceCookie(
  email: string,
  { secret, isSecure }: { secret: string; isSecure: boolean },
): string {
  const device = randomBytes(16).toString('base64url');
  const value = `${device}.${sign(device, email, secret)}`;
  const flags = `Path=/api; HttpOnly; SameSite=Lax; Max-Age=${AGE_S}${isSecure ? '; Secure' : ''}`;
  return `${NAME}=${value}; ${flags}`;
}

/** Returns the name of the browser if it has signed in with this address before; null otherwise. */
export function readDeviceCookie(
  cookies: string | undefined,
  { email, secret }: { email: string; secret: string },
): string | null {
  const own = cookies?.split('; ').find((cookie) => cookie.startsWith(`${NAME}=`));
  const [device = '', signature = ''] = own?.slice(NAME.length + 1).split('.') ?? [];
  return isSameSecret(sign(device, email, secret), signature) ? device : null;
}

function sign(device: string, email: string, secret: string): string {
  return signatureOfText(secret, 'device cookies', `${device}\n${email.toLowerCase()}`);
}
