import { type Config, readConfig } from '../../server/src/config.ts';
import { PlainError } from '../plain-error.ts';

/** The settings of the environment, as commands read them. Throws PlainError where one is not usable. */
export function readSettings(): Config {
  try {
    return readConfig(process.env);
  } catch (error) {
    throw new PlainError(error instanceof Error ? error.message : String(error));
  }
}
