import { type Config, readConfig } from '../../server/src/config.ts';
import { PlainError } from '../plain-error.ts';

/** Returns the settings of the environment for commands. Throws PlainError if one is invalid. */
export function readSettings(): Config {
  try {
    return readConfig(process.env);
  } catch (error) {
    throw new PlainError(error instanceof Error ? error.message : String(error));
  }
}
