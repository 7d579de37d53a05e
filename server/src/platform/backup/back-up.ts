import { createHash, type Hash, randomUUID } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { type FileHandle, link, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { pack as newTar, type Pack } from 'tar-stream';
import { startEmbeddedPostgres } from '../postgres/embedded-postgres.ts';
import { FILES_LIE_IN } from '../storage/open-blob-store.ts';
import { BLOBS, END, type End, MANIFEST, type Manifest, POSTGRES, SECRET } from './layout.ts';

const PIECE_BYTES = 1024 * 1024;

/** Folders whose content PostgreSQL recreates at startup; pg_wal is copied at the end. */
const EMPTY = new Set([
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
]);

/** Files that belong to the running server only. */
const LEFT_OUT = /^(postmaster\.(pid|opts)|server\.log.*|pg_internal\.init.*|pgsql_tmp.*|\.s\.PGSQL.*)$/;

/** Contains the start position of the log; copied after the files that it refers to. */
const CONTROL = 'global/pg_control';

/** Errors of disks without hard links, such as exFAT, and of network file systems. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

type BackedUp = {
  sizeBytes: number;
  blobs: number;
  /** Blobs with wrong or unreadable bytes. The backup contains them as they were found. */
  damaged: string[];
  madeAt: Date;
};

/**
 * Writes the embedded database, the blobs and the secret of a data folder into one tar file, even while
 * servers run. The backup has the database's state at the end of its copy, and every blob that this state
 * references. A failed backup leaves no file; a killed one leaves a file ending in `.unfinished`. Throws if
 * `file` exists.
 */
export async function backUp({ dataDir, file }: { dataDir: string; file: string }): Promise<BackedUp> {
  // A unique name, because two backups to the same file may run at the same time.
  const unfinished = `${file}.${randomUUID()}.unfinished`;
  await assertNotTaken(file);
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
      // First copy most blobs, then the database, then the blobs added in the meantime.
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
    await renameWithoutOverwrite(unfinished, file);
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
 * Adds the blobs that are not in `added` yet, and compares each with its hash. Blobs may be collected in the
 * meantime; the database copied later does not reference those.
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

/**
 * Adds the files of a running PostgreSQL cluster with its backup protocol. Changes made during the copy are
 * in the log, which is copied afterwards. They are applied when the copy first starts. Returns the number of
 * added files and folders.
 */
async function copyCluster(tar: Pack, { url, dir }: { url: string; dir: string }): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // Prevents PostgreSQL from recycling the log. The slot is dropped with the connection.
    await client.query(
      "select pg_create_physical_replication_slot('bakehouse_backup_' || pg_backend_pid(), true, true)",
    );
    const started = await client.query<{ wal: string }>(
      "select pg_walfile_name(pg_backup_start('bakehouse', fast => true)) as wal",
    );
    let added = await addFolder(tar, dir, '');
    added += Number(await addFile(tar, path.dirname(dir), path.join(POSTGRES, CONTROL)));
    const stopped = await client.query<{ label: string; wal: string }>(
      `select labelfile as label, pg_walfile_name(lsn) as wal from pg_backup_stop(wait_for_archive => false)`,
    );
    await addText(tar, path.join(POSTGRES, 'backup_label'), stopped.rows[0]?.label ?? '');
    added += 1;
    const [first, last] = [started.rows[0]?.wal ?? '', stopped.rows[0]?.wal ?? ''];
    for (const name of (await readdir(path.join(dir, 'pg_wal'))).sort()) {
      if (!/^[0-9A-F]{24}$/.test(name) || name < first || name > last) continue;
      added += Number(await addFile(tar, path.dirname(dir), path.join(POSTGRES, 'pg_wal', name)));
    }
    return added;
  } finally {
    await client.end();
  }
}

async function addFolder(tar: Pack, dir: string, below: string): Promise<number> {
  let added = 0;
  for (const entry of await readdir(path.join(dir, below), { withFileTypes: true })) {
    const name = path.join(below, entry.name);
    if (LEFT_OUT.test(entry.name) || name === CONTROL) continue;
    if (entry.isDirectory()) {
      tar.entry({ name: path.join(POSTGRES, name), type: 'directory', mode: 0o700 });
      added += 1;
      if (!EMPTY.has(name)) added += await addFolder(tar, dir, name);
    } else if (entry.isFile()) {
      added += Number(await addFile(tar, path.dirname(dir), path.join(POSTGRES, name)));
    }
  }
  return added;
}

/** Moves a finished file to its final name. Throws if it exists; a plain rename would overwrite it. */
export async function renameWithoutOverwrite(unfinished: string, file: string): Promise<void> {
  try {
    await link(unfinished, file);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw nameTaken(file);
    if (!NO_LINKS.includes(code)) throw error;
    await assertNotTaken(file);
    await rename(unfinished, file);
    return;
  }
  await rm(unfinished);
}

/** Throws if the file exists. */
async function assertNotTaken(file: string): Promise<void> {
  if (await stat(file).catch(() => null)) throw nameTaken(file);
}

function nameTaken(file: string): Error {
  return new Error(`${file} exists already`);
}

/**
 * Adds a file that may change during the read. Adds as many bytes as it had when it was opened, and pads it
 * with zeros if it is truncated. Returns false if the file does not exist. With a `hash`, unreadable parts
 * become zeros too, and all bytes update the hash, so that it shows the damage.
 */
async function addFile(tar: Pack, dir: string, name: string, hash?: Hash): Promise<boolean> {
  const handle = await open(path.join(dir, name)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (!handle) return false;
  try {
    const { size, mode, mtime } = await handle.stat();
    const entry = tar.entry({ name, size, mode: mode & 0o777, mtime });
    await pipeline(Readable.from(exactly(handle, size, hash), { objectMode: false }), entry);
    return true;
  } finally {
    await handle.close();
  }
}

async function addText(tar: Pack, name: string, text: string): Promise<void> {
  const bytes = Buffer.from(text);
  await pipeline(
    Readable.from([bytes], { objectMode: false }),
    tar.entry({ name, size: bytes.length, mode: 0o600 }),
  );
}

async function* exactly(handle: FileHandle, size: number, hash?: Hash): AsyncGenerator<Buffer> {
  for (let at = 0; at < size; ) {
    const piece = Buffer.alloc(Math.min(PIECE_BYTES, size - at));
    const { bytesRead } = await handle.read(piece, 0, piece.length, at).catch((error: unknown) => {
      if (!hash) throw error;
      return { bytesRead: 0 };
    });
    const bytes = bytesRead === 0 ? piece : piece.subarray(0, bytesRead);
    hash?.update(bytes);
    yield bytes;
    at += bytes.length;
  }
}
