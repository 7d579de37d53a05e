import type { Config } from '../../config.ts';

/** Returns true if the settings list this address as an operator's. */
export function isOperatorAddress(config: Config, email: string): boolean {
  return config.operators.includes(email.toLowerCase());
}

/**
 * Returns true if the user is an operator, whose verified address is in `BAKEHOUSE_OPERATORS`. This is not
 * stored. Sign-in providers and `makeOperator`, on the server's console, verify addresses.
 */
export function isOperator(config: Config, user: { email: string; emailVerified: boolean }): boolean {
  return user.emailVerified && isOperatorAddress(config, user.email);
}
