import { setTimeout as sleep } from 'node:timers/promises';
import type { Services } from '../context.ts';
import { defineJob } from '../jobs/define-job.ts';
import { DamagedBlob } from './blob-store.ts';
import { findLongestUnchecked, recordBlobCheck } from './queries.ts';

/** Every blob is read at least this often, if the rate permits. */
const EVERY_MS = 30 * 24 * 60 * 60 * 1000;
/** 16 MB/s are only a fraction of what a slow disk can read, but 1.4 TB a day. */
const BYTES_PER_SECOND = 16 * 1024 * 1024;
/** A run ends before the next hourly one, which continues. */
const RUN_MS = 50 * 60 * 1000;
/** If more blobs than this cannot be read, the store is broken, not the blobs. */
const UNREADABLE_MAX = 100;

/** Reads stored bytes again at a low rate, starting with those that were checked longest ago. */
export const scrubBlobsJob = defineJob({
  name: 'platform.scrub-blobs',
  schedule: '7 * * * *',
  timeoutSeconds: 3600,
  run: async (services: Services, _data: object, signal: AbortSignal) => {
    await scrubBlobs(services, {
      uncheckedSince: new Date(services.clock.now().getTime() - EVERY_MS),
      bytesPerSecond: BYTES_PER_SECOND,
      signal: AbortSignal.any([signal, AbortSignal.timeout(RUN_MS)]),
    });
  },
});

/**
 * Checks all blobs that were not checked since then, oldest first, and records damage. Clears the damage of a
 * blob that is intact again, for example after a restore. Records nothing for a blob that cannot be read, for
 * example without permission; the next run retries it. Throws if too many blobs cannot be read.
 */
export async function scrubBlobs(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  {
    uncheckedSince,
    bytesPerSecond = Number.POSITIVE_INFINITY,
    signal,
    onChecked,
    onUnreadable,
  }: {
    uncheckedSince: Date;
    bytesPerSecond?: number;
    signal?: AbortSignal;
    onChecked?: (blob: { sha256: string; sizeBytes: number; isGood: boolean }) => void;
    onUnreadable?: (sha256: string, error: unknown) => void;
  },
): Promise<void> {
  const unreadable: string[] = [];
  while (!signal?.aborted) {
    const blob = await findLongestUnchecked(services.db, uncheckedSince, unreadable);
    if (!blob) return;
    const isGood = await checkBytes(services, blob.sha256, bytesPerSecond, signal).catch((error: unknown) => {
      unreadable.push(blob.sha256);
      services.log.error({ err: error, sha256: blob.sha256 }, 'failed to read stored bytes');
      onUnreadable?.(blob.sha256, error);
      if (unreadable.length === UNREADABLE_MAX) throw error;
      return null;
    });
    // Nothing to record: the check was aborted, or the blob could not be read.
    if (isGood === null) continue;
    await recordBlobCheck(services.db, blob, { isGood, at: services.clock.now() });
    if (!isGood) services.log.error({ sha256: blob.sha256 }, 'stored bytes are damaged');
    onChecked?.({ sha256: blob.sha256, sizeBytes: Number(blob.size_bytes), isGood });
  }
}

/** Returns whether the bytes match their hash, or null if the signal aborted first. */
async function checkBytes(
  { blobs }: Pick<Services, 'blobs'>,
  sha256: string,
  bytesPerSecond: number,
  signal: AbortSignal | undefined,
): Promise<boolean | null> {
  try {
    for await (const chunk of await blobs.read(sha256)) {
      if (signal?.aborted) return null;
      const bytes: Buffer = chunk;
      await sleep((1000 * bytes.length) / bytesPerSecond);
    }
    return true;
  } catch (error) {
    if (error instanceof DamagedBlob) return false;
    throw error;
  }
}
