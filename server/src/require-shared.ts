import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Config } from './config.ts';
import type { Role } from './roles.ts';

/**
 * A process that runs no work on files in a bucket needs no data folder of its own, so that it must be told what would
 * lie there: made anew by each process, the database and the secret would be others each time. Throws a sentence that
 * names what is missing.
 */
export function requireShared(
  { databaseUrl, dataDir, s3, secret }: Pick<Config, 'databaseUrl' | 'dataDir' | 's3' | 'secret'>,
  roles: Role[],
): void {
  if (!s3 || roles.includes('reconciler')) return;
  const missing = [
    ...(databaseUrl || existsSync(path.join(dataDir, 'postgres')) ? [] : ['DATABASE_URL']),
    ...(secret || existsSync(path.join(dataDir, 'secret')) ? [] : ['BAKEHOUSE_SECRET']),
  ];
  if (missing.length === 0) return;
  throw new Error(
    `Set ${missing.join(' and ')} as on the other processes of this installation: a process with --services=${roles.join(',')} shares the files in the bucket with them, and ${dataDir} has neither the database nor the secret`,
  );
}
