import type { Config } from '../../config.ts';

/** Operators are named by e-mail address in `BAKEHOUSE_OPERATORS`; nothing about it is stored. */
export function isOperator(config: Config, email: string): boolean {
  return config.operators.includes(email);
}
