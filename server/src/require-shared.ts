import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Config } from './config.ts';
import type { Role } from './roles.ts';

/**
 * Throws a sentence that names missing settings. A process that runs no workloads and stores files in a
 * bucket has no shared data folder, so it would generate a different database and secret at each start.
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
