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
  /** Blobs that were changed or unreadable on the disk; the backup has them as found. */
  damaged: string[];
  madeAt: Date;
};

/**
 * Writes the embedded database, the stored bytes and the secret of a data folder into one tar file, even
 * while servers run: the database is as of the end of its copy, and every blob that it references is
 * included. A failed backup leaves no file; a killed one leaves a `.unfinished` file. Throws if `file`
 * exists.
 */
export async function backUp({ dataDir, file }: { dataDir: string; file: string }): Promise<BackedUp> {
  // Unique, because two concurrent backups with one name would write into the same file.
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
      // Copies most of the blobs first, then the database, then the blobs that it references in addition.
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
 * Adds blobs that are not in `added` yet, comparing each with its hash. A blob collected in the meantime is
 * not referenced by any later copy of the database.
 */
async function addBlobs(tar: Pack, dataDir: string, { added, damaged }: Blobs): Promise<void> {
  const dir = path.join(dataDir, BLOBS);
  // Missing if the blobs are in a bucket.
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
