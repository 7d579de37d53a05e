import type { Config } from '../../config.ts';
import { isOperatorAddress } from './is-operator-address.ts';

/**
 * Operators are named by email address in `BAKEHOUSE_OPERATORS`; nothing about it is stored. Only a
 * verified address counts: anybody may type an address into a form. A sign-in provider verifies it,
 * and so does whoever sits at the server's console (`makeOperator`).
 */
export function isOperator(config: Config, user: { email: string; emailVerified: boolean }): boolean {
  return user.emailVerified && isOperatorAddress(config, user.email);
}
