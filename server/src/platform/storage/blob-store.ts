import type { Readable } from 'node:stream';

export type Blob = { sha256: string; sizeBytes: number };

export type WriteOptions = {
  sizeBytesMax?: number;
  tooLargeMessage?: string;
  /** How many bytes will come, as far as known: what has no room is refused at once. */
  expectedBytes?: number;
  /** The hash that is announced of the bytes: others are refused with OtherBytes, and leave nothing. */
  expectedSha256?: string;
  /** Called when all bytes are safe on disk, before they can be found under their name. */
  beforeVisible?: (blob: Blob) => Promise<void>;
};

/** The store has lost these bytes: they are not there any more, or no longer what their name says. */
export class DamagedBlob extends Error {
  constructor(sha256: string, reason: 'missing' | 'changed' | 'unreadable', cause?: unknown) {
    super(`The bytes of ${sha256} are ${reason}`, { cause });
  }
}

/** The bytes that came are not those that were announced. */
export class OtherBytes extends Error {
  /** The hash of what came. */
  readonly sha256: string;

  constructor(sha256: string) {
    super(`The bytes have the SHA-256 ${sha256}, not the announced one`);
    this.sha256 = sha256;
  }
}

/** Some of what came in parts is not, or not any more, what was written: these parts have to come again. */
export class DamagedParts extends Error {
  readonly numbers: number[];

  constructor(numbers: number[]) {
    super(`The unfinished bytes of parts ${numbers.join(', ')} are damaged`);
    this.numbers = numbers;
  }
}

/**
 * Bytes that come in parts, each on its own and in any order, as an object store's multipart upload takes them. All parts
 * have one size, but for the last, which has the rest.
 */
export type PartStore = {
  /** Prepares for so many bytes and answers the key of the parts. Throws AppError('unavailable') where they have no room. */
  open: (sizeBytes: number) => Promise<string>;
  /**
   * Writes a part, numbered from 1, which begins at the byte `start`, and answers its hash once it is safe. One and the
   * same part is written by one caller at a time. Throws AppError('invalid_request') for more or fewer bytes, and 'unavailable'.
   */
  write: (
    key: string,
    part: { number: number; start: number; sizeBytes: number },
    bytes: Readable,
  ) => Promise<Blob>;
  /**
   * Makes one blob of the parts, which may be called again after it was interrupted. All are read again: throws
   * DamagedParts, which names those that do not have their hash. What `beforeVisible` throws leaves the parts as they were.
   */
  complete: (
    key: string,
    whole: { sizeBytes: number; partBytes: number; partSha256s: string[]; announcedSha256: string | null },
    beforeVisible: (blob: Blob) => Promise<void>,
  ) => Promise<Blob>;
  /** Deletes the parts. */
  abandon: (key: string) => Promise<void>;
  /** The keys of all that is unfinished. */
  list: () => Promise<string[]>;
};

/** Immutable bytes, named by their SHA-256. */
export type BlobStore = {
  /**
   * Streams the bytes in and hashes them as they pass. Nothing is visible until the last byte is
   * safe; a stream that breaks leaves nothing. Throws AppError('payload_too_large'), OtherBytes, and
   * AppError('unavailable') where too little room would be left for the server itself, or the store does not answer.
   */
  write: (bytes: Readable, options?: WriteOptions) => Promise<Blob>;
  /**
   * Takes in a file of this machine: by a second name for it where its disk can give it one, so that it must not be
   * written to any more, else by a copy. Throws AppError('conflict') for one that changes meanwhile, and 'unavailable'.
   */
  adopt: (
    localPath: string,
    beforeVisible: (blob: Blob) => Promise<void>,
  ) => Promise<Blob & { isLinked: boolean }>;
  /**
   * A stream of the bytes, or of those from `start` to `end`, both inclusive. Where all are read it
   * holds the last piece back until their hash is known, and fails with DamagedBlob instead of
   * ending. Throws DamagedBlob when they are not there, and AppError('unavailable') where the store does not answer:
   * that says nothing of the bytes.
   */
  read: (sha256: string, range?: { start: number; end: number }) => Promise<Readable>;
  /** How many bytes there are; null when they are not there. */
  stat: (sha256: string) => Promise<{ sizeBytes: number } | null>;
  /**
   * Lends the bytes as a file of this machine, for programs that need one, as long as `work` takes.
   * Nobody may change it. Throws DamagedBlob when they are not there.
   */
  withLocalFile: <T>(sha256: string, work: (localPath: string) => Promise<T>) => Promise<T>;
  /**
   * An address where anybody may read the bytes until then, and is answered with these headers; null
   * where the store has none, and this server answers itself.
   */
  presign: (
    sha256: string,
    answer: { contentType: string; contentDisposition: string; expiresAt: Date },
  ) => Promise<string | null>;
  /** The origin of such addresses, which pages may show pictures and films of; null where there are none. */
  linkOrigin: string | null;
  delete: (sha256: string, signal?: AbortSignal) => Promise<void>;
  /** The room that is left, in bytes; null where the store has no end. */
  freeBytes: () => Promise<number | null>;
  /** Removes what uploads left unfinished that ended without an end, e.g. with their process. */
  removeUnfinished: () => Promise<void>;
  parts: PartStore;
};
