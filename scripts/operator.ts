import { makeOperator } from '../server/src/modules/accounts/users.ts';
import { systemClock } from '../server/src/platform/clock.ts';
import { AppError } from '../server/src/platform/errors.ts';
import { readOrMakeSecret } from '../server/src/platform/files/data-files.ts';
import { readSettings } from './client/settings.ts';
import type { Command } from './command.ts';
import { withDatabase } from './ledger.ts';
import { PlainError } from './plain-error.ts';

/** `operator EMAIL` creates an operator's account. An existing one with this address gets a new password. */
export const operator: Command = async ({ words }) => {
  const [email, ...more] = words;
  if (email === undefined || more.length > 0) throw new PlainError('Usage: ./bakehouse operator EMAIL');
  const config = readSettings();
  const { password } = await withDatabase(async (db) => {
    // Create the secret only if the database exists, so that nothing is created in a mistyped folder.
    config.secret ??= await readOrMakeSecret(config.dataDir);
    return makeOperator({ config, db, clock: systemClock }, { email });
  }).catch((error: unknown) => {
    throw error instanceof AppError ? new PlainError(`${error.publicMessage}.`) : error;
  });
  console.log(`Sign in as ${email} with the password ${password}. Save it now: it is not shown again.`);
  console.log('If the server was running when you set BAKEHOUSE_OPERATORS, restart it first.');
  return 0;
};
