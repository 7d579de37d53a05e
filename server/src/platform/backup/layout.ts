import * as z from 'zod';

/*
 * A backup has the layout of a data folder. Its first entry is a manifest with the format version, and its
 * last one is an end marker with the number of entries.
 */

export const MANIFEST = 'bakehouse-backup.json';
export const END = 'bakehouse-backup-end.json';
export const SECRET = 'secret';
export const BLOBS = 'blobs';
export const POSTGRES = 'postgres';

export const manifest = z.object({ format: z.literal(2), made_at: z.iso.datetime() });
export type Manifest = z.infer<typeof manifest>;

/** Number of entries before the end marker. If a backup has fewer, it was truncated or altered. */
export const end = z.object({ blobs: z.int(), cluster_entries: z.int() });
export type End = z.infer<typeof end>;
