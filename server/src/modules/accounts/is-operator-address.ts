import type { Config } from '../../config.ts';

/** Whether the settings name this address as an operator's. */
export function isOperatorAddress(config: Config, email: string): boolean {
  return config.operators.includes(email.toLowerCase());
}
