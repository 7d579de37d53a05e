import { existsSync } from 'node:fs';
import path from 'node:path';
import { formatBytes } from '@bakehouse/contract/labels';
import { systemClock } from '../server/src/platform/clock.ts';
import { createLog } from '../server/src/platform/log.ts';
import { openLocalBlobStore } from '../server/src/platform/storage/local-blob-store.ts';
import { scrubBlobs } from '../server/src/platform/storage/scrub-blobs.ts';
import { readSettings } from './client/settings.ts';
import type { Command } from './command.ts';
import { withDatabase } from './ledger.ts';
import { PlainError } from './plain-error.ts';

/** `blobs verify` reads every stored file again, whether the server runs or not, and notes what it finds. */
export const blobs: Command = async ({ words }) => {
  if (words.join(' ') !== 'verify') throw new PlainError("There is only './bakehouse blobs verify'.");
  const config = readSettings();
  const log = createLog({ ...config, logLevel: 'silent' });
  const found = { files: 0, bytes: 0, damaged: 0, unreadable: 0 };
  await withDatabase(async (db) => {
    const folder = path.join(config.dataDir, 'blobs');
    if (!existsSync(folder))
      throw new PlainError(`There are no stored files in ${folder}. Name the data folder with --data-dir.`);
    const store = await openLocalBlobStore(folder);
    await scrubBlobs(
      { db, blobs: store, clock: systemClock, log },
      {
        uncheckedSince: systemClock.now(),
        onChecked: ({ sha256, sizeBytes, isGood }) => {
          found.files += 1;
          found.bytes += sizeBytes;
          if (isGood) return;
          found.damaged += 1;
          console.log(`FAIL ${sha256.slice(0, 2)}/${sha256.slice(2)} is missing or changed`);
        },
        onUnreadable: (sha256, error) => {
          found.unreadable += 1;
          console.log(`FAIL ${sha256.slice(0, 2)}/${sha256.slice(2)} cannot be read: ${String(error)}`);
        },
      },
    );
  });
  const unread = found.unreadable === 0 ? '' : `, ${found.unreadable} could not be read`;
  console.log(`${found.files} files of ${formatBytes(found.bytes)} read, ${found.damaged} damaged${unread}`);
  return found.damaged + found.unreadable === 0 ? 0 : 1;
};
