import { existsSync } from 'node:fs';
import path from 'node:path';
import { formatBytes } from '@bakehouse/contract/labels';
import type { Config } from '../server/src/config.ts';
import { backUp } from '../server/src/platform/backup/back-up.ts';
import { restoreBackup } from '../server/src/platform/backup/restore-backup.ts';
import { readSettings } from './client/settings.ts';
import type { Command } from './command.ts';
import { PlainError, toPlainErrors } from './plain-error.ts';

/**
 * `backup [FILE]` copies the database, the stored files and the secret into one file, whether the server runs
 * or not; exits with 1 if some files are damaged.
 */
export const backup: Command = async ({ words, startedIn }) => {
  const { dataDir, s3 } = requireEmbedded();
  if (words.length > 1) throw new PlainError("Usage: './bakehouse backup [FILE]'.");
  const name = words[0] ?? `bakehouse-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}.tar`;
  const file = path.resolve(startedIn, name);
  if (!existsSync(path.join(dataDir, 'postgres')))
    throw new PlainError(`There is no database in ${dataDir}; --data-dir names another folder.`);
  const { sizeBytes, blobs, damaged } = await toPlainErrors(backUp({ dataDir, file }));
  console.log(`${file}: the database and ${blobs} stored files, ${formatBytes(sizeBytes)}`);
  if (s3)
    console.log(
      `The files in the bucket '${s3.bucket}' are not included: enable versioning for it (docs/operations.md).`,
    );
  console.log('Protect this file: it contains all data of this server and its secret.');
  if (damaged.length === 0) return 0;
  listDamaged(damaged, 'changed or unreadable on the disk of this server, and so in the backup');
  return 1;
};

/** `restore FILE` creates a data folder from a backup; exits with 1 if some of its files are damaged. */
export const restore: Command = async ({ words, startedIn }) => {
  const { dataDir } = requireEmbedded();
  const [name, ...more] = words;
  if (name === undefined || more.length > 0) throw new PlainError("Usage: './bakehouse restore FILE'.");
  const file = path.resolve(startedIn, name);
  const { madeAt, blobs, damaged } = await toPlainErrors(restoreBackup({ file, dataDir }));
  console.log(`Restored ${dataDir} as of ${madeAt.toISOString()}: the database and ${blobs} stored files`);
  console.log(`./bakehouse ledger verify --data-dir ${dataDir} proves every balance.`);
  if (damaged.length === 0) return 0;
  listDamaged(damaged, 'damaged in the backup; everything else is restored');
  console.log(`./bakehouse blobs verify --data-dir ${dataDir} marks them, so that they are not served.`);
  return 1;
};

function listDamaged(names: string[], what: string): void {
  for (const name of names) console.log(`FAIL ${name} is damaged`);
  console.log(`${names.length} of the stored files ${names.length === 1 ? 'is' : 'are'} ${what}.`);
}

function requireEmbedded(): Pick<Config, 'dataDir' | 's3'> {
  const { databaseUrl, dataDir, s3 } = readSettings();
  if (databaseUrl)
    throw new PlainError(
      'DATABASE_URL names a PostgreSQL of your own: back it up with its tools, as docs/operations.md says.',
    );
  return { dataDir, s3 };
}
