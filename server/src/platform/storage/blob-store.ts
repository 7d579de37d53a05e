import type { Readable } from 'node:stream';

export type Blob = { sha256: string; sizeBytes: number };

export type WriteOptions = {
  sizeBytesMax?: number;
  tooLargeMessage?: string;
  /** Expected size, if known. Without enough space, the bytes are rejected before any is read. */
  expectedBytes?: number;
  /** Announced hash of the bytes. Other bytes are rejected with HashMismatch, and not stored. */
  expectedSha256?: string;
  /** Called when all bytes are safely stored, but not yet visible under their name. */
  beforeVisible?: (blob: Blob) => Promise<void>;
};

/** The store no longer has these bytes: they are missing, unreadable, or do not match their name. */
export class DamagedBlob extends Error {
  constructor(sha256: string, reason: 'missing' | 'changed' | 'unreadable', cause?: unknown) {
    super(`The bytes of ${sha256} are ${reason}`, { cause });
  }
}

/** The received bytes do not match the announced hash. */
export class HashMismatch extends Error {
  /** Hash of the received bytes. */
  readonly sha256: string;

  constructor(sha256: string) {
    super(`The bytes have the SHA-256 ${sha256}, not the announced one`);
    this.sha256 = sha256;
  }
}

/** Some parts are no longer as they were written, and must be sent again. */
export class DamagedParts extends Error {
  readonly numbers: number[];

  constructor(numbers: number[]) {
    super(`The unfinished bytes of parts ${numbers.join(', ')} are damaged`);
    this.numbers = numbers;
  }
}

/**
 * Receives a file in parts, in any order, like the multipart upload of an object store. All parts have the
 * same size, except the last one, which may be shorter.
 */
export type PartStore = {
  /** Returns the key of an upload of this size. Throws AppError('unavailable') without enough space. */
  open: (sizeBytes: number) => Promise<string>;
  /**
   * Writes a part and returns its hash once it is safely stored. Parts are numbered from 1; `start` is the
   * position of the first byte. Callers must not write the same part twice at the same time. Throws AppError
   * 'invalid_request' if there are more or fewer bytes, and 'unavailable'.
   */
  write: (
    key: string,
    part: { number: number; start: number; sizeBytes: number },
    bytes: Readable,
  ) => Promise<Blob>;
  /**
   * Combines the parts into one blob. Can be repeated after an interruption. Reads all parts again, and
   * throws DamagedParts if any does not match its hash. If `beforeVisible` throws, the parts stay unchanged.
   */
  complete: (
    key: string,
    whole: { sizeBytes: number; partBytes: number; partSha256s: string[]; announcedSha256: string | null },
    beforeVisible: (blob: Blob) => Promise<void>,
  ) => Promise<Blob>;
  /** Deletes the parts. */
  abandon: (key: string) => Promise<void>;
  /** Returns the keys of all unfinished uploads. */
  list: () => Promise<string[]>;
};

/** Immutable bytes, named by their SHA-256. */
export type BlobStore = {
  /**
   * Stores the bytes of a stream. They become visible only when the last byte is safely stored; if the stream
   * breaks, nothing is left. Throws AppError('payload_too_large') and HashMismatch. Throws
   * AppError('unavailable') if too little space would be left for the server itself, or if the store does not
   * respond.
   */
  write: (bytes: Readable, options?: WriteOptions) => Promise<Blob>;
  /**
   * Adds a local file, as a hard link if possible, otherwise as a copy. The file must not be changed
   * afterwards. Throws AppError 'conflict' if the file changes during the call, and 'unavailable'.
   */
  adopt: (
    localPath: string,
    beforeVisible: (blob: Blob) => Promise<void>,
  ) => Promise<Blob & { isLinked: boolean }>;
  /**
   * Returns a stream of the bytes, or of those from `start` to `end`, both inclusive. A read of the whole
   * blob checks the hash before the last chunk, and fails with DamagedBlob if it does not match. Throws
   * DamagedBlob if the bytes are missing. Throws AppError('unavailable') if the store does not respond.
   */
  read: (sha256: string, range?: { start: number; end: number }) => Promise<Readable>;
  /** Returns the size, or null if the bytes are missing. */
  stat: (sha256: string) => Promise<{ sizeBytes: number } | null>;
  /**
   * Provides the bytes as a local file while `work` runs, which must not change it. Throws DamagedBlob if the
   * bytes are missing.
   */
  withLocalFile: <T>(sha256: string, work: (localPath: string) => Promise<T>) => Promise<T>;
  /**
   * Returns a public URL of the bytes, which responds with these headers until `expiresAt`. Returns null if
   * the store has no such URLs and this server must send the bytes.
   */
  presign: (
    sha256: string,
    answer: { contentType: string; contentDisposition: string; expiresAt: Date },
  ) => Promise<string | null>;
  /** Origin of these URLs, from which pages may load images and videos; null if there are none. */
  linkOrigin: string | null;
  delete: (sha256: string, signal?: AbortSignal) => Promise<void>;
  /** Returns the free space in bytes; null if the store is unlimited. */
  freeBytes: () => Promise<number | null>;
  /** Deletes unfinished uploads that were interrupted, for example when their process ended. */
  removeUnfinished: () => Promise<void>;
  parts: PartStore;
};
