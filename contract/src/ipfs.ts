import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';

const params = z.object({ id: idOf('dataset or model') });

/** The operator's own node, and a service that fetches the files from it. */
const pinServices = ['kubo', 'pinning_service'] as const;
export type PinServiceName = (typeof pinServices)[number];

/** `queued`: the service has not begun. `failed`: it is tried again by itself. */
export const pinStates = ['queued', 'pinning', 'pinned', 'failed'] as const;
export type PinState = (typeof pinStates)[number];

const pin = z.object({
  service: z.enum(pinServices),
  state: z.enum(pinStates),
  /** What it waits for, or why it failed. */
  reason: z.string().nullable(),
  /** When the service was last asked. */
  checked_at: z.string().nullable(),
});

const ipfsRevision = z.object({
  revision_id: z.string(),
  number: z.int(),
  created_at: z.string(),
  /** Of the folder with all its files: CIDv1, as `ipfs add --recursive --hidden --cid-version=1` makes it; null while it is computed. */
  cid: z.string().nullable(),
  /** Why it could not be computed so far; it is tried again by itself. */
  reason: z.string().nullable(),
  /** One for each configured service. */
  pins: z.array(pin),
});

export type IpfsRevision = z.infer<typeof ipfsRevision>;

/** Revisions that were replaced before their CID was computed are left out. */
export const getIpfs = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id/ipfs',
  access: 'key',
  operation: 'read the IPFS addresses',
  summary: 'List the revisions with their CIDs and pins, newest first',
  params,
  query: z.object({
    limit: z.coerce.number().int().min(1).max(100).default(20),
    cursor: idOf('revision').optional(),
  }),
  response: z.object({
    use_ipfs: z.boolean(),
    /** Where this installation pins. Empty: files are addressed, and kept here only. */
    services: z.array(z.enum(pinServices)),
    revisions: z.array(ipfsRevision),
    next_cursor: z.string().nullable(),
  }),
});

const ipfsFile = z.object({
  path: z.string(),
  size_bytes: z.number(),
  sha256: z.string(),
  /** CIDv1, as `ipfs add --cid-version=1` makes it; null while it is computed. */
  cid: z.string().nullable(),
});

export type IpfsFile = z.infer<typeof ipfsFile>;

export const listIpfsFiles = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id/ipfs/files',
  access: 'key',
  operation: 'list the files',
  summary: 'List the files of a revision with their CIDs',
  params,
  query: z.object({
    /** The newest unless said. */
    revision_id: idOf('revision').optional(),
    limit: z.coerce.number().int().min(1).max(1000).default(100),
    cursor: z.string().optional(),
  }),
  response: z.object({ files: z.array(ipfsFile), next_cursor: z.string().nullable() }),
});
