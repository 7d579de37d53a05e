import type { Config } from '../../config.ts';
import { isOperatorAddress } from './is-operator-address.ts';

/**
 * Whether the user is an operator: their verified address is in `BAKEHOUSE_OPERATORS`. Nothing about it is stored.
 * Sign-in providers and `makeOperator`, at the server's console, verify addresses.
 */
export function isOperator(config: Config, user: { email: string; emailVerified: boolean }): boolean {
  return user.emailVerified && isOperatorAddress(config, user.email);
}
