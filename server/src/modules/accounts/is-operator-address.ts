import type { Config } from '../../config.ts';

/** Returns true if the settings list this address as an operator's. */
export function isOperatorAddress(config: Config, email: string): boolean {
  return config.operators.includes(email.toLowerCase());
}
