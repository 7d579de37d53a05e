import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { pack as newTar, type Pack } from 'tar-stream';
import { startEmbeddedPostgres } from '../postgres/embedded-postgres.ts';
import { FILES_LIE_IN } from '../storage/open-blob-store.ts';
import { addFile, addText } from './add-to-tar.ts';
import { copyCluster } from './copy-cluster.ts';
import { giveName, refuseTaken } from './give-name.ts';
import { BLOBS, END, type End, MANIFEST, type Manifest, POSTGRES, SECRET } from './layout.ts';

export type BackedUp = {
  sizeBytes: number;
  blobs: number;
  /** Those of them that were changed or unreadable on the disk; the file has them as they were found. */
  damaged: string[];
  madeAt: Date;
};

/**
 * Writes the embedded database, the stored bytes and the secret of a data folder into one tar file, also
 * while servers work on it: the database is that of the moment in which its copy ends, and every blob that
 * it names is there. A backup that fails leaves no file, one that is killed its `.unfinished`. Throws where `file` exists.
 */
export async function backUp({ dataDir, file }: { dataDir: string; file: string }): Promise<BackedUp> {
  // Two at once to one name would write into one file.
  const unfinished = `${file}.${randomUUID()}.unfinished`;
  await refuseTaken(file);
  const postgres = await startEmbeddedPostgres({ dir: path.join(dataDir, POSTGRES) });
  try {
    const tar = newTar();
    const writing = pipeline(tar, createWriteStream(unfinished, { mode: 0o600, flush: true }));
    const madeAt = new Date();
    const filling = (async () => {
      await addText(
        tar,
        MANIFEST,
        JSON.stringify({ format: 2, made_at: madeAt.toISOString() } satisfies Manifest),
      );
      for (const name of [SECRET, FILES_LIE_IN])
        if (await stat(path.join(dataDir, name)).catch(() => null)) await addFile(tar, dataDir, name);
      const blobs: Blobs = { added: new Set(), damaged: [] };
      // Most of the bytes come first; then the database, and behind it what it may name beyond them.
      await addBlobs(tar, dataDir, blobs);
      const clusterEntries = await copyCluster(tar, { url: postgres.url, dir: path.join(dataDir, POSTGRES) });
      await addBlobs(tar, dataDir, blobs);
      await addText(
        tar,
        END,
        JSON.stringify({ blobs: blobs.added.size, cluster_entries: clusterEntries } satisfies End),
      );
      tar.finalize();
      return { blobs: blobs.added.size, damaged: blobs.damaged };
    })().catch((error: unknown) => {
      tar.destroy(error as Error);
      throw error;
    });
    const [filled] = await Promise.all([filling, writing]);
    await giveName(unfinished, file);
    return { sizeBytes: (await stat(file)).size, ...filled, madeAt };
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  } finally {
    await postgres.stop({ isCommand: true });
  }
}

type Blobs = { added: Set<string>; damaged: string[] };

/**
 * Those that are not in `added` yet, each compared with its hash. One that is collected meanwhile is named by no
 * later copy of the database.
 */
async function addBlobs(tar: Pack, dataDir: string, { added, damaged }: Blobs): Promise<void> {
  const dir = path.join(dataDir, BLOBS);
  // Where they lie in a bucket there may be none.
  const folders = existsSync(dir) ? await readdir(dir) : [];
  for (const folder of folders.filter((name) => /^[0-9a-f]{2}$/.test(name)).sort()) {
    for (const rest of (await readdir(path.join(dir, folder))).sort()) {
      const name = path.join(BLOBS, folder, rest);
      if (added.has(name)) continue;
      const hash = createHash('sha256');
      if (!(await addFile(tar, dataDir, name, hash))) continue;
      added.add(name);
      if (hash.digest('hex') !== folder + rest) damaged.push(name);
    }
  }
}
