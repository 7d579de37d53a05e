import { importer, importFile } from 'ipfs-unixfs-importer';
import { fixedSize } from 'ipfs-unixfs-importer/chunker';
import { balanced } from 'ipfs-unixfs-importer/layout';
import { CID } from 'multiformats/cid';

/** Receives each new block of a DAG. */
export type PutBlock = (cid: CID, bytes: Uint8Array) => Promise<void>;

/** The CID of a file or folder, and the total bytes of its blocks. */
export type Address = { cid: string; dagBytes: number };

/**
 * The defaults of Kubo's `ipfs add --cid-version=1`: chunks of 256 KiB as raw leaves, at most 174 links per
 * node, and SHA2-256. A folder becomes a HAMT with a fanout of 256 if its names and CIDs exceed 256 KiB.
 */
const profile = {
  cidVersion: 1,
  rawLeaves: true,
  reduceSingleLeafToSelf: true,
  shardSplitThresholdBytes: 256 * 1024,
  shardSplitStrategy: 'links-bytes',
  shardFanoutBits: 8,
  /** Blocks in memory at a time. */
  blockWriteConcurrency: 8,
} as const;

const chunker = fixedSize({ chunkSize: 256 * 1024 });
const layout = balanced({ maxChildrenPerNode: 174 });

const drop: PutBlock = async () => undefined;

const storeOf = (put: PutBlock) => ({
  put: async (cid: CID, bytes: Uint8Array) => {
    await put(cid, bytes);
    return cid;
  },
});

/** Returns the address of a file with these bytes, in constant memory. */
export async function addressFile(bytes: AsyncIterable<Uint8Array>, put: PutBlock = drop): Promise<Address> {
  const { cid, size } = await importFile({ content: bytes }, storeOf(put), { ...profile, chunker, layout });
  return { cid: cid.toString(), dagBytes: Number(size) };
}

/** Returns the address of a folder from the paths and addresses of its files. */
export async function addressFolder(
  files: ({ path: string } & Address)[],
  put: PutBlock = drop,
): Promise<Address> {
  const children: ({ name: string } & Address)[] = [];
  const folders = new Map<string, ({ path: string } & Address)[]>();
  for (const { path, ...address } of files) {
    const slash = path.indexOf('/');
    if (slash === -1) {
      children.push({ name: path, ...address });
      continue;
    }
    const name = path.slice(0, slash);
    const inside = folders.get(name) ?? [];
    inside.push({ path: path.slice(slash + 1), ...address });
    folders.set(name, inside);
  }
  // Subfolders first: whether a folder becomes a HAMT depends on the CIDs of its entries.
  for (const [name, inside] of folders) children.push({ name, ...(await addressFolder(inside, put)) });
  return writeFolder(children, put);
}

async function writeFolder(children: ({ name: string } & Address)[], put: PutBlock): Promise<Address> {
  const dagBuilder = async function* () {
    for (const { name, cid, dagBytes } of children) {
      yield async () => ({ path: name, cid: CID.parse(cid), size: BigInt(dagBytes) });
    }
  };
  let root: Address | undefined;
  for await (const { cid, size } of importer([], storeOf(put), {
    ...profile,
    wrapWithDirectory: true,
    dagBuilder,
  })) {
    root = { cid: cid.toString(), dagBytes: Number(size) };
  }
  if (!root) throw new Error('Importer returned no folder');
  return root;
}
