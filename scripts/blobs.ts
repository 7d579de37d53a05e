import { existsSync } from 'node:fs';
import { formatBytes } from '@bakehouse/contract/labels';
import type { Config } from '../server/src/config.ts';
import { systemClock } from '../server/src/platform/clock.ts';
import type { Database } from '../server/src/platform/db/database.ts';
import { createLog } from '../server/src/platform/log.ts';
import { openLocalBlobStore } from '../server/src/platform/storage/local-blob-store.ts';
import { findUnmoved, type Moved, moveBlobs } from '../server/src/platform/storage/move-blobs.ts';
import {
  blobsDir,
  isBucketInUse,
  openBlobStore,
  openS3,
} from '../server/src/platform/storage/open-blob-store.ts';
import { scrubBlobs } from '../server/src/platform/storage/scrub-blobs.ts';
import { readSettings } from './client/settings.ts';
import type { Command } from './command.ts';
import { withDatabase } from './ledger.ts';
import { PlainError, toPlainErrors } from './plain-error.ts';

const TELL_EVERY_MS = 10_000;

/**
 * `blobs verify` reads every stored file again and records damage. `blobs move` copies files from the folder
 * to the configured bucket. Both work whether or not the server runs.
 */
export const blobs: Command = async ({ words }) => {
  const [word, ...more] = words;
  const command = word === 'verify' ? verify : word === 'move' ? move : null;
  if (!command || more.length > 0)
    throw new PlainError("There are only './bakehouse blobs verify' and './bakehouse blobs move'.");
  const config = readSettings();
  return withDatabase((db) => command(db, config));
};

async function verify(db: Database, config: Config): Promise<number> {
  const folder = blobsDir(config);
  if (!config.s3 && !existsSync(folder))
    throw new PlainError(`There are no stored files in ${folder}. Name the data folder with --data-dir.`);
  const log = createLog({ ...config, logLevel: 'silent' });
  const store = await toPlainErrors(openBlobStore(config));
  const found = { files: 0, bytes: 0, damaged: 0, unreadable: 0 };
  await scrubBlobs(
    { db, blobs: store, clock: systemClock, log },
    {
      uncheckedSince: systemClock.now(),
      onChecked: ({ sha256, sizeBytes, isGood }) => {
        found.files += 1;
        found.bytes += sizeBytes;
        if (isGood) return;
        found.damaged += 1;
        console.log(`FAIL ${nameOf(sha256)} is missing or changed`);
      },
      onUnreadable: (sha256, error) => {
        found.unreadable += 1;
        console.log(`FAIL ${nameOf(sha256)} cannot be read: ${String(error)}`);
      },
    },
  );
  const unread = found.unreadable === 0 ? '' : `, ${found.unreadable} could not be read`;
  console.log(`${found.files} files of ${formatBytes(found.bytes)} read, ${found.damaged} damaged${unread}`);
  return found.damaged + found.unreadable === 0 ? 0 : 1;
}

async function move(db: Database, config: Config): Promise<number> {
  const { s3 } = config;
  const folder = blobsDir(config);
  if (!s3) throw new PlainError('The settings name no bucket to move the files to: set BAKEHOUSE_S3_BUCKET.');
  if (!existsSync(folder)) throw new PlainError(`There are no files to move: there is no folder ${folder}.`);
  if (!(await isBucketInUse(config)))
    throw new PlainError(
      'The server has not used this bucket yet, and still stores new files in the folder: restart it with these settings first.',
    );
  const to = await toPlainErrors(openS3(config, s3));
  const from = await openLocalBlobStore(folder);
  const moved = await toPlainErrors(moveBlobs({ db, from, to }, folder, teller()));
  for (const sha256 of moved.damaged) console.log(`FAIL ${nameOf(sha256)} is damaged in the folder`);
  console.log(`${moved.files} files checked, ${formatBytes(moved.bytes)} copied`);
  const left = await toPlainErrors(findUnmoved({ db, to }));
  for (const sha256 of left) console.log(`FAIL ${nameOf(sha256)} is not in the bucket`);
  if (left.length > 0) return 1;
  const what = `Every file that the database names is in the bucket '${s3.bucket}'.`;
  console.log(`${what} Stop the server, delete ${folder}, and start it again.`);
  return 0;
}

/** Prints the progress periodically. */
function teller(): (moved: Moved, of: number) => void {
  let toldAt = Date.now();
  return ({ files, bytes }, of) => {
    if (Date.now() - toldAt < TELL_EVERY_MS) return;
    toldAt = Date.now();
    console.log(`  ${files} of ${of} files, ${formatBytes(bytes)} copied`);
  };
}

function nameOf(sha256: string): string {
  return `${sha256.slice(0, 2)}/${sha256.slice(2)}`;
}
