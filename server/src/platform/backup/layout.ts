import * as z from 'zod';

/* What lies where in a backup: as in a data folder, between a first file that says what it is and a last one that says what it has. */

export const MANIFEST = 'bakehouse-backup.json';
export const END = 'bakehouse-backup-end.json';
export const SECRET = 'secret';
export const BLOBS = 'blobs';
export const POSTGRES = 'postgres';

export const manifest = z.object({ format: z.literal(2), made_at: z.iso.datetime() });
export type Manifest = z.infer<typeof manifest>;

/** Files and folders before the end marker: a backup that has fewer was truncated or altered. */
export const end = z.object({ blobs: z.int(), cluster_entries: z.int() });
export type End = z.infer<typeof end>;
