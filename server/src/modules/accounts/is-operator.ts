import type { Config } from '../../config.ts';

/**
 * Operators are named by email address in `BAKEHOUSE_OPERATORS`; nothing about it is stored. Only a
 * verified address counts: anybody may type an address into a form. A sign-in provider verifies it,
 * and so does whoever sits at the server's console (`makeOperator`).
 */
export function isOperator(config: Config, user: { email: string; emailVerified: boolean }): boolean {
  return user.emailVerified && isOperatorAddress(config, user.email);
}

/** Whether the settings name this address, whoever has it. */
export function isOperatorAddress(config: Config, email: string): boolean {
  return config.operators.includes(email.toLowerCase());
}
