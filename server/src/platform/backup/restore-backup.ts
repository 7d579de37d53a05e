import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { chown, mkdir, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { extract, type Header } from 'tar-stream';
import { makeClusterFolder } from '../postgres/postgres-cluster.ts';
import { findOwner, type Owner } from '../postgres/postgres-programs.ts';
import { FILES_LIE_IN } from '../storage/open-blob-store.ts';
import { BLOBS, END, end, MANIFEST, manifest, POSTGRES, SECRET } from './layout.ts';

export type Restored = {
  madeAt: Date;
  blobs: number;
  /** Blobs whose bytes do not match their hash. They are not served until they are stored again. */
  damaged: string[];
};

/**
 * Restores a backup into a missing or empty folder. Compares each blob with its hash; damaged blobs are
 * restored too. Leaves nothing if it fails. Throws an Error with a sentence that names the file.
 */
export async function restoreBackup({ file, dataDir }: { file: string; dataDir: string }): Promise<Restored> {
  if (!(await stat(file).catch(() => null))) throw new Error(`There is no file ${file}`);
  if ((await readdir(dataDir).catch(() => [])).length > 0)
    throw new Error(`${dataDir} is not empty: restore into a folder that is`);
  const owner = await findOwner();
  await mkdir(dataDir, { recursive: true, mode: 0o755 });
  try {
    let restored: Restored = { madeAt: new Date(0), blobs: 0, damaged: [] };
    await makeClusterFolder(path.join(dataDir, POSTGRES), owner, async (cluster) => {
      restored = await unpack(file, { dataDir, cluster, owner });
    });
    return restored;
  } catch (error) {
    for (const name of await readdir(dataDir))
      await rm(path.join(dataDir, name), { recursive: true, force: true });
    throw error;
  }
}

type Entry = AsyncIterable<Buffer> & { header: Header };
type Place = { dataDir: string; cluster: string; owner: Owner | null };

async function unpack(file: string, place: Place): Promise<Restored> {
  const tar = extract();
  // Ignore errors here, because the loop over the entries below throws them too.
  const reading = pipeline(createReadStream(file), tar).catch(() => undefined);
  const restored: Restored = { madeAt: new Date(0), blobs: 0, damaged: [] };
  let clusterEntries = 0;
  let isWhole = false;
  try {
    for await (const entry of tar as AsyncIterable<Entry>) {
      const { name } = entry.header;
      if (restored.madeAt.getTime() === 0) restored.madeAt = await readManifest(file, entry);
      else if (name === SECRET || name === FILES_LIE_IN) await write(entry, path.join(place.dataDir, name));
      else if (name.startsWith(`${BLOBS}/`)) {
        if (!(await writeBlob(entry, place.dataDir))) restored.damaged.push(name);
        restored.blobs += 1;
      } else if (name.startsWith(`${POSTGRES}/`)) {
        await writeClusterFile(entry, place);
        clusterEntries += 1;
      } else if (name === END) {
        const has = end.parse(JSON.parse(await text(entry)));
        isWhole = has.blobs === restored.blobs && has.cluster_entries === clusterEntries;
      } else throw new Error(`${file} is no backup of Bakehouse: it has ${name}`);
    }
  } catch (cause) {
    if (cause instanceof Error && cause.message.startsWith(file)) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${file} cannot be restored: ${reason}`, { cause });
  }
  await reading;
  if (!isWhole) throw new Error(`${file} is cut: it does not have all that was written into it`);
  return restored;
}

async function readManifest(file: string, entry: Entry): Promise<Date> {
  if (entry.header.name !== MANIFEST) throw new Error(`${file} is no backup of Bakehouse`);
  const parsed = manifest.safeParse(JSON.parse(await text(entry)));
  if (!parsed.success)
    throw new Error(`${file} was made by another version of Bakehouse: restore it with that one`);
  return new Date(parsed.data.made_at);
}

/** Stores the bytes, and returns whether they match their hash. */
async function writeBlob(entry: Entry, dataDir: string): Promise<boolean> {
  const { name } = entry.header;
  const [, first, rest] = /^blobs\/([0-9a-f]{2})\/([0-9a-f]{62})$/.exec(name) ?? [];
  if (!first || !rest) throw new Error(`${name} is no stored file`);
  const hash = createHash('sha256');
  const hashed = async function* () {
    for await (const chunk of entry) {
      hash.update(chunk);
      yield chunk;
    }
  };
  await mkdir(path.join(dataDir, BLOBS, first), { recursive: true, mode: 0o700 });
  await write({ header: entry.header, [Symbol.asyncIterator]: hashed }, path.join(dataDir, name));
  return hash.digest('hex') === first + rest;
}

async function writeClusterFile(entry: Entry, { cluster, owner }: Place): Promise<void> {
  const name = entry.header.name.slice(`${POSTGRES}/`.length).replace(/\/$/, '');
  if (name.split('/').some((part) => part === '' || part === '.' || part === '..'))
    throw new Error(`${entry.header.name} is no file of a database`);
  const target = path.join(cluster, name);
  if (entry.header.type === 'directory') {
    await mkdir(target, { recursive: true, mode: 0o700 });
    // A folder has no bytes, but the next entry only comes after this one was read.
    await text(entry);
  } else await write(entry, target);
  if (owner) await chown(target, owner.uid, owner.gid);
}

async function write(entry: Entry, target: string): Promise<void> {
  if (entry.header.type !== 'file') throw new Error(`${entry.header.name} is neither a file nor a folder`);
  const { mode } = entry.header;
  await pipeline(entry, createWriteStream(target, { flags: 'wx', mode, flush: true }));
}
