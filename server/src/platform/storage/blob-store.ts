import type { Readable } from 'node:stream';

export type Blob = { sha256: string; sizeBytes: number };

export type WriteOptions = {
  sizeBytesMax?: number;
  tooLargeMessage?: string;
  /** Expected size, if known: rejects immediately if there is no room. */
  expectedBytes?: number;
  /** Announced hash of the bytes: others are rejected with OtherBytes, and leave nothing. */
  expectedSha256?: string;
  /** Called when all bytes are safe on disk, before they can be found under their name. */
  beforeVisible?: (blob: Blob) => Promise<void>;
};

/** The store has lost these bytes: they are missing, or no longer match their name. */
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

/** Some received parts do not match what was written: they have to be sent again. */
export class DamagedParts extends Error {
  readonly numbers: number[];

  constructor(numbers: number[]) {
    super(`The unfinished bytes of parts ${numbers.join(', ')} are damaged`);
    this.numbers = numbers;
  }
}

/**
 * Bytes received in parts, each separately and in any order, like an object store's multipart upload. All
 * parts have one size, except the last one, which has the rest.
 */
export type PartStore = {
  /** Returns the key of an upload of this size. Throws AppError('unavailable') without room. */
  open: (sizeBytes: number) => Promise<string>;
  /**
   * Writes a part, numbered from 1, which begins at the byte `start`, and returns its hash once it is safe.
   * Callers must not write the same part concurrently. Throws AppError('invalid_request') for more or fewer
   * bytes, and 'unavailable'.
   */
  write: (
    key: string,
    part: { number: number; start: number; sizeBytes: number },
    bytes: Readable,
  ) => Promise<Blob>;
  /**
   * Combines the parts into one blob; may be called again after an interruption. All parts are read again:
   * throws DamagedParts with those that do not match their hash. An error of `beforeVisible` leaves the parts
   * unchanged.
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
   * Streams the bytes in and hashes them on the way. Nothing is visible until the last byte is safe; a stream
   * that breaks leaves nothing. Throws AppError('payload_too_large'), OtherBytes, and AppError('unavailable')
   * if too little room would be left for the server itself, or the store does not respond.
   */
  write: (bytes: Readable, options?: WriteOptions) => Promise<Blob>;
  /**
   * Adds a local file: as a hard link if possible, so that it must not be written to any more, otherwise as a
   * copy. Throws AppError('conflict') if it changes in the meantime, and 'unavailable'.
   */
  adopt: (
    localPath: string,
    beforeVisible: (blob: Blob) => Promise<void>,
  ) => Promise<Blob & { isLinked: boolean }>;
  /**
   * Returns a stream of the bytes, or of those from `start` to `end`, both inclusive. A full read withholds
   * the last chunk until the hash is verified, and fails with DamagedBlob instead of ending. Throws
   * DamagedBlob if the bytes are missing, and AppError('unavailable') if the store does not respond, which
   * says nothing about the bytes.
   */
  read: (sha256: string, range?: { start: number; end: number }) => Promise<Readable>;
  /** Returns the size, or null if the bytes are missing. */
  stat: (sha256: string) => Promise<{ sizeBytes: number } | null>;
  /** Provides the bytes as an immutable local file while `work` runs. Throws DamagedBlob if missing. */
  withLocalFile: <T>(sha256: string, work: (localPath: string) => Promise<T>) => Promise<T>;
  /**
   * Returns a public URL of the bytes with these response headers, valid until `expiresAt`; null if the store
   * has none and this server must send them.
   */
  presign: (
    sha256: string,
    answer: { contentType: string; contentDisposition: string; expiresAt: Date },
  ) => Promise<string | null>;
  /** Origin of such URLs, from which pages may show images and videos; null if there are none. */
  linkOrigin: string | null;
  delete: (sha256: string, signal?: AbortSignal) => Promise<void>;
  /** Free space in bytes; null if the store is unlimited. */
  freeBytes: () => Promise<number | null>;
  /** Deletes unfinished uploads that were interrupted, e.g. by the end of their process. */
  removeUnfinished: () => Promise<void>;
  parts: PartStore;
};
