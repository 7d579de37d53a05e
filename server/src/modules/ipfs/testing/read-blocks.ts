import { createHash } from 'node:crypto';
import { CarReader } from '@ipld/car';
import * as dagPb from '@ipld/dag-pb';
import { UnixFS } from 'ipfs-unixfs';
import { CID } from 'multiformats/cid';

/**
 * Returns the files below the root of a CAR, by path. Throws if a block is missing or does not match its CID.
 */
export async function readCar(bytes: Uint8Array): Promise<{ root: string; files: Record<string, string> }> {
  const reader = await CarReader.fromBytes(bytes);
  const [root] = await reader.getRoots();
  if (!root) throw new Error('The CAR has no root');
  for await (const { cid, bytes: block } of reader.blocks()) {
    const hash = createHash('sha256').update(block).digest();
    if (!hash.equals(cid.multihash.digest)) throw new Error(`${cid.toString()} is not what it says`);
  }
  const get = async (cid: CID): Promise<Uint8Array> => {
    const block = await reader.get(cid);
    if (!block) throw new Error(`${cid.toString()} is missing`);
    return block.bytes;
  };
  const files: Record<string, string> = {};
  await walk(root, '', { get, onFile: (path, content) => (files[path] = content) });
  return { root: root.toString(), files };
}

type Parts = { get: (cid: CID) => Promise<Uint8Array>; onFile: (path: string, content: string) => void };

async function walk(cid: CID, path: string, { get, onFile }: Parts): Promise<void> {
  const bytes = await get(cid);
  const node = cid.code === dagPb.code ? dagPb.decode(bytes) : null;
  const type = node?.Data && UnixFS.unmarshal(node.Data).type;
  if (node && type === 'directory') {
    for (const { Name = '', Hash } of node.Links)
      await walk(Hash, path === '' ? Name : `${path}/${Name}`, { get, onFile });
  } else onFile(path, Buffer.concat(await leaves(cid, get)).toString('latin1'));
}

async function leaves(cid: CID, get: Parts['get']): Promise<Uint8Array[]> {
  const bytes = await get(cid);
  if (cid.code !== dagPb.code) return [bytes];
  const parts: Uint8Array[] = [];
  for (const { Hash } of dagPb.decode(bytes).Links) parts.push(...(await leaves(Hash, get)));
  return parts;
}
