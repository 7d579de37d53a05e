import type { Config } from '../../../config.ts';
import { signatureOf } from '../../../platform/signature.ts';
import { serverSecret } from '../../accounts/sign-in/server-secret.ts';

const UUID = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/;

/** Signs all parameters of a link to a zip; `ids` are packed, `expires` is in seconds since 1970. */
export function signZip(
  config: Config,
  { userId, ids, expires }: { userId: string; ids: string; expires: number },
): string {
  return signatureOf(serverSecret(config), 'zip links', [userId, ids, expires]);
}

/** Packs ids for a link: in plain form, two hundred would exceed the URL limit of proxies. */
export function packIds(ids: readonly string[]): string {
  return Buffer.from(ids.join('').replaceAll('-', ''), 'hex').toString('base64url');
}

/** Returns the ids packed by `packIds`. */
export function unpackIds(packed: string): string[] {
  const digits = Buffer.from(packed, 'base64url').toString('hex');
  return (digits.match(/.{32}/g) ?? []).map((id) => id.replace(UUID, '$1-$2-$3-$4-$5'));
}
