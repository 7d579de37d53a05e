import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';

const params = z.object({ id: idOf('dataset or model') });

/** IPFS uses the operator's own node, and optionally a service that fetches the files from it. */
const pinServices = ['kubo', 'pinning_service'] as const;
export type PinServiceName = (typeof pinServices)[number];

/** `queued` until the service starts to fetch. After `failed`, the server retries automatically. */
export const pinStates = ['queued', 'pinning', 'pinned', 'failed'] as const;
export type PinState = (typeof pinStates)[number];

export const ipfsPin = z.object({
  service: z.enum(pinServices),
  state: z.enum(pinStates),
  /** The reason for the wait or failure. */
  reason: z.string().nullable(),
  /** When the service was last checked. */
  checked_at: z.string().nullable(),
});

export const ipfsRevision = z.object({
  revision_id: z.string(),
  number: z.int(),
  created_at: z.string(),
  /**
   * CIDv1 of the folder with all files, as created by `ipfs add --recursive --hidden --cid-version=1`; null
   * while it is computed.
   */
  cid: z.string().nullable(),
  /** Why the CID could not be computed. The server retries automatically. */
  reason: z.string().nullable(),
  /** State at each configured service. */
  pins: z.array(ipfsPin),
});

export type IpfsRevision = z.infer<typeof ipfsRevision>;

/** Does not include revisions that were replaced before their CID was computed. */
export const getIpfs = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id/ipfs',
  access: 'key',
  operation: 'read the IPFS addresses',
  summary: 'List the versions with their CIDs and pins, newest first',
  params,
  query: z.object({
    limit: z.coerce.number().int().min(1).max(100).default(20),
    cursor: idOf('revision').optional(),
  }),
  response: z.object({
    use_ipfs: z.boolean(),
    /** Services that pin the files. If there are none, files have CIDs but are stored only on this server. */
    services: z.array(z.enum(pinServices)),
    revisions: z.array(ipfsRevision),
    next_cursor: z.string().nullable(),
  }),
});

export const ipfsFile = z.object({
  path: z.string(),
  size_bytes: z.number(),
  sha256: z.string(),
  /** CIDv1 as created by `ipfs add --cid-version=1`; null while it is computed. */
  cid: z.string().nullable(),
});

export type IpfsFile = z.infer<typeof ipfsFile>;

export const listIpfsFiles = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id/ipfs/files',
  access: 'key',
  operation: 'list the files',
  summary: 'List the files of a version with their CIDs',
  params,
  query: z.object({
    /** Defaults to the newest. */
    revision_id: idOf('revision').optional(),
    limit: z.coerce.number().int().min(1).max(1000).default(100),
    cursor: z.string().optional(),
  }),
  response: z.object({ files: z.array(ipfsFile), next_cursor: z.string().nullable() }),
});
