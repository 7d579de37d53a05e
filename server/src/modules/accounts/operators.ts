import type { Config } from '../../config.ts';

/** Returns true if the settings list this address as an operator's. */
export function isOperatorAddress(config: Config, email: string): boolean {
  return config.operators.includes(email.toLowerCase());
}

/**
 * Returns true if the user is an operator: their address is in `BAKEHOUSE_OPERATORS` and verified. The role
 * is not stored. Operators verify their address with a sign-in provider or with `makeOperator` on the
 * server's console.
 */
export function isOperator(config: Config, user: { email: string; emailVerified: boolean }): boolean {
  return user.emailVerified && isOperatorAddress(config, user.email);
}
