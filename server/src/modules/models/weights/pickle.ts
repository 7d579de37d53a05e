import type { ByteSource } from './byte-source.ts';

/** A file that could run code when loaded; the message follows 'is not accepted:'. */
export class UnsafeFile extends Error {}

const HEAD_BYTES = 512;
/** Start of PyTorch files before 1.6: a pickled magic number. */
const TORCH_MAGIC = Buffer.from('80028a0a6cfc9c46f9206aa850192e', 'hex');
/** Start of a PyTorch archive, and of any zip. */
const ZIP_MAGIC = Buffer.from('PK\x03\x04', 'latin1');
/** An import in the text protocol, optionally after a mark. Every pickle that runs code starts like this. */
const TEXT_IMPORT = /^\(?c[A-Za-z_][\w.]*\n[A-Za-z_][\w.]*\n/;
const STOP = 0x2e;

/**
 * Refuses pickles and PyTorch archives: loading them can run code, and safetensors can hold the same weights.
 * Detects a pickle by its first and last bytes and never loads it. Throws UnsafeFile.
 */
export function assertNoPickle(source: ByteSource): void {
  const head = source.read(0, Math.min(source.size, HEAD_BYTES));
  if (isPickle(head, source) || head.subarray(0, 4).equals(ZIP_MAGIC)) {
    throw new UnsafeFile(
      'it holds Python pickles, which can run code where they are loaded; save the weights as safetensors',
    );
  }
}

function isPickle(head: Buffer, source: ByteSource): boolean {
  if (head.subarray(0, TORCH_MAGIC.length).equals(TORCH_MAGIC)) return true;
  const [first, protocol] = head;
  const isBinary = first === 0x80 && protocol !== undefined && protocol >= 2 && protocol <= 5;
  if (!isBinary) return TEXT_IMPORT.test(head.toString('latin1'));
  return source.read(source.size - 1, 1)[0] === STOP;
}
