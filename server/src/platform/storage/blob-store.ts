import type { Readable } from 'node:stream';

export type Blob = { sha256: string; sizeBytes: number };

export type WriteOptions = {
  sizeBytesMax?: number;
  tooLargeMessage?: string;
  /** How many bytes will come, as far as known: what has no room is refused at once. */
  expectedBytes?: number;
};

/** Immutable bytes, named by their SHA-256. */
export type BlobStore = {
  /**
   * Streams the bytes in and hashes them as they pass. Nothing is visible until the last byte is
   * safe on disk; a stream that breaks leaves nothing. Throws AppError('payload_too_large'), and
   * AppError('unavailable') where too little room would be left for the server itself.
   */
  write: (bytes: Readable, options?: WriteOptions) => Promise<Blob>;
  /** A stream of the bytes from `start` to `end`, both inclusive. Throws when there is no such blob. */
  read: (sha256: string, range?: { start: number; end: number }) => Promise<Readable>;
  /** A local path for programs that need a file, e.g. to validate it. The file must not be changed. */
  localPath: (sha256: string) => Promise<string>;
  delete: (sha256: string) => Promise<void>;
};
