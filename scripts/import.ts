import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { formatBytes } from '@bakehouse/contract/labels';
import { NAME_LENGTH_MAX } from '@bakehouse/contract/limits';
import { runtimeDir } from '../server/src/engine/host/environment/environment.ts';
import { findUserId } from '../server/src/modules/accounts/users.ts';
import { findAssetUse as findDeploymentUse } from '../server/src/modules/deployments/find-asset-use.ts';
import { findAssetUse as findTrainingUse } from '../server/src/modules/fine-tuning/find-asset-use.ts';
import { importFolder } from '../server/src/modules/models/import/import-folder.ts';
import { removeImport } from '../server/src/modules/models/import/remove-import.ts';
import { listStarterAssets } from '../server/src/modules/models/starter/queries.ts';
import type { Database } from '../server/src/platform/db/database.ts';
import { AppError } from '../server/src/platform/errors.ts';
import { findSandbox } from '../server/src/platform/sandbox/find-sandbox.ts';
import { blobCopiesDir, blobsDir, openBlobStore } from '../server/src/platform/storage/open-blob-store.ts';
import { readSettings } from './client/settings.ts';
import type { Arguments, Command } from './command.ts';
import { withDatabase } from './ledger.ts';
import { PlainError } from './plain-error.ts';

const USAGE =
  'Usage: ./bakehouse import FOLDER (--user NAME | --everybody) [--title TITLE]; the title defaults to the name of the folder. ' +
  './bakehouse import --list lists the public models and datasets; ./bakehouse import --remove TITLE deletes one.';

/**
 * `import FOLDER` imports a local folder as a model or dataset, of a user or public. `import --list` lists
 * public ones, and `import --remove TITLE` deletes one of them. All work whether or not the server runs.
 */
export const importCommand: Command = async (args) => {
  const command = args.remove === true ? remove : args.list === true ? list : importWords;
  await command(args).catch((error: unknown) => {
    throw error instanceof AppError ? new PlainError(error.publicMessage) : error;
  });
  return 0;
};

async function remove({ words, user, everybody, title }: Arguments): Promise<void> {
  const [name, ...more] = words;
  if (name === undefined || more.length > 0 || (user ?? everybody ?? title) !== undefined)
    throw new PlainError(USAGE);
  await withDatabase(async (db) => {
    const gone = await removeImport(db, { name, findUses: [findTrainingUse, findDeploymentUse] });
    const what = `the ${gone.datasetType === 'MODEL' ? 'model' : 'dataset'} '${gone.title}'`;
    const size = formatBytes(Number(gone.bytes));
    console.log(
      `Removed ${what}. The server frees up to ${size} within two hours; files that are also used elsewhere remain.`,
    );
  });
}

async function list({ words, user, everybody, title }: Arguments): Promise<void> {
  if (words.length > 0 || (user ?? everybody ?? title) !== undefined) throw new PlainError(USAGE);
  await withDatabase(async (db) => {
    for (const { name, datasetType, files, bytes } of await listStarterAssets(db)) {
      const size = `${files} file${files === 1 ? '' : 's'} of ${formatBytes(Number(bytes))}`;
      console.log(`${datasetType === 'MODEL' ? 'model  ' : 'dataset'} ${name}: ${size}`);
    }
  });
}

async function importWords(args: Arguments): Promise<void> {
  const { folder, title } = readWords(args);
  const config = readSettings();
  const blobsFolder = blobsDir(config);
  await withDatabase(async (db) => {
    await assertSameUser(blobsFolder, config.dataDir);
    const userId = args.user === undefined ? null : await requireUser(db, args.user);
    const blobs = await openBlobStore(config);
    const { sandbox } = await findSandbox({
      sharedDir: path.join(config.dataDir, 'lent'),
      reads: [runtimeDir],
      hidden: [path.dirname(runtimeDir), config.dataDir, blobCopiesDir(config)],
    });
    const done = await importFolder(
      { blobs, db, sandbox },
      {
        ...{ folder, title, userId },
        onFile: ({ path: file, sizeBytes, isLinked, at, of }) =>
          console.log(`  ${at}/${of} ${file}, ${formatBytes(sizeBytes)}, ${isLinked ? 'linked' : 'copied'}`),
      },
    );
    for (const name of done.leftOut) console.log(`  skipped: ${name}`);
    const what = `the ${done.datasetType === 'MODEL' ? 'model' : 'dataset'} '${title}'`;
    const size = `${done.files} file${done.files === 1 ? '' : 's'} of ${formatBytes(done.sizeBytes)}, ${formatBytes(done.linkedBytes)} of them linked`;
    console.log(done.isNew ? `Imported ${what}: ${size}.` : `No changes in ${what}: ${size}.`);
    console.log(`Its id is ${done.assetId}.`);
  });
}

function readWords({ words, startedIn, user, everybody, title }: Arguments): {
  folder: string;
  title: string;
} {
  const [name, ...more] = words;
  if (name === undefined || more.length > 0 || (user === undefined) !== (everybody === true))
    throw new PlainError(USAGE);
  const folder = path.resolve(startedIn, name);
  if (!existsSync(folder)) throw new PlainError(`There is no folder ${folder}.`);
  const given = (title ?? path.basename(folder)).trim();
  if (given.length < 1 || given.length > NAME_LENGTH_MAX)
    throw new PlainError(`--title must have 1 to ${NAME_LENGTH_MAX} characters.`);
  return { folder, title: given };
}

async function requireUser(db: Database, name: string): Promise<string> {
  const userId = await findUserId(db, name);
  if (userId === undefined)
    throw new PlainError(`There is no user ${name}. Enter a username or an email address.`);
  return userId;
}

/** Throws if another system user runs the server, because the server could not read or delete our files. */
async function assertSameUser(blobsFolder: string, dataDir: string): Promise<void> {
  const { uid } = await stat(existsSync(blobsFolder) ? blobsFolder : dataDir);
  if (uid !== process.getuid?.())
    throw new PlainError(`Run this command as the system user that runs the server and owns ${blobsFolder}.`);
}
