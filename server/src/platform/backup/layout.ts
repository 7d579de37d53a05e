import * as z from 'zod';

/*
 * Layout of a backup: like a data folder, between a manifest with the format and an end marker with the
 * counts.
 */

export const MANIFEST = 'bakehouse-backup.json';
export const END = 'bakehouse-backup-end.json';
export const SECRET = 'secret';
export const BLOBS = 'blobs';
export const POSTGRES = 'postgres';

export const manifest = z.object({ format: z.literal(2), made_at: z.iso.datetime() });
export type Manifest = z.infer<typeof manifest>;

/** Number of files and folders before the end marker: a backup with fewer was truncated or altered. */
export const end = z.object({ blobs: z.int(), cluster_entries: z.int() });
export type End = z.infer<typeof end>;
